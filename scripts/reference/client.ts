/** Methods of the client library for the platform's operations, printed from their declarations. */
import { spawnSync } from 'node:child_process';
import {
  listMembers,
  type NamedOperation,
  operations,
  routeOf,
  type ValueSchema,
} from '../../packages/runtime/src/language/operations/index.ts';

/** Methods by the members that lead to them: `auth` → `password` → `request`. */
type Tree = ReadonlyMap<string, Tree | Method>;

interface Method {
  readonly operation: NamedOperation;
  readonly arguments: readonly string[];
}

/** Prints the module. */
export function printClientOperations(): string {
  const methods = growTree(
    operations.flatMap((operation) => {
      const [, name = '', listed = ''] = /^([\w.]+)\((.*)\)$/.exec(operation.client ?? '') ?? [];
      const names = listed.split(', ').filter((argument) => argument !== '');
      return name === '' ? [] : [{ path: name.split('.'), method: { operation, arguments: names } }];
    }),
  );
  const signatures = printTree(methods, '; ', printSignature, (name) => `readonly ${name}: `);
  const handlers = [...methods].map(([name, below]) => printHandler(name, below));
  const types = ['JsonObject', 'JsonValue', 'Key', 'RequestOptions'].filter((name) => signatures.includes(name));
  return format(`/** Methods of the platform's operations. \`npm run golden\` prints this file from their declarations. */
import type { ${types.join(', ')} } from './call.ts';
import type { Requester } from './requester.ts';

/** Methods by the handlers of a client. */
export interface OperationMethods ${signatures}

/** Makes the methods. */
export function createOperationMethods(requester: Requester): OperationMethods {
  return { ${[...methods.keys()].map((name) => `${name}: ${name}Methods(requester)`).join(', ')} };
}

${handlers.join('\n')}`);
}

/** Prints the function that makes the methods of one handler. */
function printHandler(name: string, below: Tree | Method): string {
  if ('operation' in below) throw new Error(`The method "${name}" needs a handler.`);
  const calls = printTree(below, ', ', printCall, (inner) => `${inner}: `);
  const senders = ['data', 'nothing', 'text', 'whole'].filter((sender) => calls.includes(` ${sender}({`));
  return `function ${name}Methods({ ${senders.join(', ')} }: Requester): OperationMethods['${name}'] {
  return ${calls};
}
`;
}

function growTree(leaves: readonly { readonly path: readonly string[]; readonly method: Method }[]): Tree {
  return new Map(
    [...Map.groupBy(leaves, ({ path }) => path[0] ?? '')].map(([name, below]): [string, Tree | Method] => {
      const [first] = below;
      return first?.path.length === 1
        ? [name, first.method]
        : [name, growTree(below.map(({ path, method }) => ({ path: path.slice(1), method })))];
    }),
  );
}

function printTree(
  tree: Tree,
  separator: string,
  printMethod: (name: string, method: Method) => string,
  printName: (name: string) => string,
): string {
  const members = [...tree].map(([name, below]) =>
    'operation' in below
      ? printMethod(name, below)
      : `${printName(name)}${printTree(below, separator, printMethod, printName)}`,
  );
  return `{\n${members.join(`${separator}\n`)}\n}`;
}

function printSignature(name: string, method: Method): string {
  const given = argumentsOf(method).map(({ argument, isRequired, schema }) => {
    return `${argument}${isRequired ? '' : '?'}: ${printType(schema)}`;
  });
  const result = printResult(method.operation);
  return `/** ${method.operation.description} */\n${name}(${[...given, 'options?: RequestOptions'].join(', ')}): Promise<${result}>`;
}

function argumentsOf({ operation, arguments: names }: Method) {
  const members = listMembers(operation.input ?? {});
  return names.map((name) => {
    const member = members.find((candidate) => candidate.name === name);
    if (member === undefined) throw new Error(`${operation.id} has no input "${name}".`);
    return { ...member, argument: name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) };
  });
}

function printCall(name: string, method: Method): string {
  const { operation } = method;
  const { method: verb, path, parameters } = routeOf(operation);
  const given = argumentsOf(method);
  const argument = (wanted: string): string => given.find((member) => member.name === wanted)?.argument ?? wanted;
  const segments = path
    .slice(1)
    .split('/')
    .map((segment) => (segment.startsWith('{') ? argument(segment.slice(1, -1)) : `'${segment}'`));
  const sent = given.filter((member) => !parameters.includes(member.name));
  const values = sent.map((member) =>
    member.name === member.argument ? member.name : `${member.name}: ${member.argument}`,
  );
  const call = [
    `method: '${verb}'`,
    `path: [${segments.join(', ')}]`,
    ...(values.length > 0 ? [`${verb === 'GET' ? 'query' : 'body'}: { ${values.join(', ')} }`] : []),
    'options',
    ...(operation.access === 'unchecked' ? ['isAnonymous: true'] : []),
    ...(operation.output.unavailable ? ['accepts: 503'] : []),
  ];
  const listed = given.map((member) => {
    return member.schema.default === undefined ? member.argument : `${member.argument} = ${member.schema.default}`;
  });
  return `${name}: (${[...listed, 'options'].join(', ')}) => ${requesterOf(operation)}({ ${call.join(', ')} })`;
}

function requesterOf({ output: { data, body, type } }: NamedOperation): string {
  if (data !== undefined) return 'data';
  if (body === undefined) return 'nothing';
  return type === 'text/plain' ? 'text' : 'whole';
}

function printResult({ output: { data, body } }: NamedOperation): string {
  const value = data ?? body;
  return value === undefined ? 'void' : printType(value);
}

function printType(schema: ValueSchema): string {
  const { members, anyOf, items, enum: choices, type, graphql = '', additionalProperties } = schema;
  if (members !== undefined) {
    const printed = listMembers(members).map(({ name, isRequired, schema }) => {
      const note = schema.description === undefined ? '' : `/** ${schema.description} */\n`;
      return `${note}readonly ${name}${isRequired ? '' : '?'}: ${printType(schema)}`;
    });
    return `{\n${printed.join(';\n')}\n}`;
  }
  if (anyOf !== undefined) return anyOf.map(printType).join(' | ');
  if (items !== undefined) return `readonly ${printType(items)}[]`;
  if (choices !== undefined) return choices.map((choice) => `'${choice}'`).join(' | ');
  if (graphql === 'ID!') return 'Key';
  if (typeof additionalProperties === 'object')
    return `{ readonly [name: string]: ${printType(additionalProperties)} }`;
  if (type === undefined) return 'JsonValue';
  return [type]
    .flat()
    .map((name) => typeNames[name] ?? name)
    .join(' | ');
}

const typeNames: Readonly<Record<string, string>> = {
  integer: 'number',
  object: 'JsonObject',
  array: 'readonly JsonValue[]',
};

/** Lays a module out as the formatter of this repository does. */
function format(text: string): string {
  const biome = 'node_modules/@biomejs/biome/bin/biome';
  const file = 'packages/client/src/operations.ts';
  const { stdout, status } = spawnSync(
    process.execPath,
    [biome, 'format', '--vcs-enabled=false', `--stdin-file-path=${file}`],
    {
      cwd: new URL('../..', import.meta.url),
      input: text,
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error('The formatter does not take the methods of the client.');
  return stdout;
}
