/** Reads generated files back with the TypeScript compiler, so that tests compare what it sees with what was meant. */
import { dirname } from 'node:path';
import ts from 'typescript';

/** Parses a file; throws when it is not valid TypeScript. */
export function parseOutput(path: string, text: string): ts.SourceFile {
  // Declarations are valid as a script with types, too, which can be transpiled.
  const { diagnostics = [] } = ts.transpileModule(text, {
    reportDiagnostics: true,
    fileName: path.replace(/\.d\.ts$/, '.ts'),
  });
  const [first] = diagnostics;
  if (first) throw new Error(`${path}: ${ts.flattenDiagnosticMessageText(first.messageText, '\n')}`);
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

/** Values of names that a file imports. */
export type Scope = ReadonlyMap<string, unknown>;

/** The value of a constant. Throws for anything but literals, names, and calls of what is imported. */
export function constantOf(source: ts.SourceFile, name: string, imported: Scope = new Map()): unknown {
  const scope = new Map(imported);
  for (const statement of source.statements.filter(ts.isVariableStatement)) {
    for (const { name: found, initializer } of statement.declarationList.declarations) {
      if (initializer === undefined) continue;
      const value = evaluate(initializer, scope);
      if (found.getText() === name) return value;
      scope.set(found.getText(), value);
    }
  }
  throw new Error(`${source.fileName} declares no constant ${name}`);
}

/** Names of the properties of an exported interface, with the names of everything exported beside it. */
export function membersOf(source: ts.SourceFile, name: string): readonly string[] {
  const found = source.statements.filter(ts.isInterfaceDeclaration).find((one) => one.name.text === name);
  if (!found) throw new Error(`${source.fileName} declares no interface ${name}`);
  return found.members.map((member) => (member.name && 'text' in member.name ? String(member.name.text) : '?'));
}

/** The literals of a type alias that is a union of them. */
export function literalsOf(source: ts.SourceFile, name: string): readonly string[] {
  const found = source.statements.filter(ts.isTypeAliasDeclaration).find((one) => one.name.text === name);
  if (!found) throw new Error(`${source.fileName} declares no type ${name}`);
  const types = ts.isUnionTypeNode(found.type) ? found.type.types : [found.type];
  return types.map((type) => {
    if (ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal)) return type.literal.text;
    throw new Error(`${name} holds ${type.getText()}`);
  });
}

/** Declarations of TypeScript and Node, by their paths: parsed once for all calls. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/** Type errors of generated files. `runtime` is the text of the declarations that stand for the runtime's entry. */
export function typeErrors(files: ReadonlyMap<string, string>, runtime: string): readonly string[] {
  const folder = `${import.meta.dirname}/virtual`;
  const virtual = new Map([...files].map(([path, text]) => [`${folder}/${path}`, text]));
  virtual.set(`${folder}/runtime.d.ts`, runtime);
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2024,
    lib: ['lib.es2024.d.ts'],
    module: ts.ModuleKind.NodeNext,
    types: ['node'],
    typeRoots: [`${import.meta.dirname}/../../../../node_modules/@types`],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noUnusedLocals: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    allowJs: true,
    checkJs: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    paths: { '@tablewright/runtime': [`${folder}/runtime.d.ts`] },
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  const folders = new Set([...virtual.keys()].map((path) => dirname(path)));
  host.directoryExists = (path) => folders.has(path) || ts.sys.directoryExists(path);
  host.fileExists = (path) => virtual.has(path) || fileExists(path);
  host.readFile = (path) => virtual.get(path) ?? readFile(path);
  host.getSourceFile = (path, version) => {
    const text = virtual.get(path);
    if (text !== undefined) return ts.createSourceFile(path, text, version);
    if (!parsed.has(path)) parsed.set(path, getSourceFile(path, version));
    return parsed.get(path);
  };
  const program = ts.createProgram([...virtual.keys()], options, host);
  const own = program.getSourceFiles().filter(({ fileName }) => virtual.has(fileName));
  const found = [
    ...program.getOptionsDiagnostics(),
    ...own.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]),
  ];
  return found.map(({ file, messageText }) => {
    return `${file?.fileName.slice(folder.length + 1)}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}

function evaluate(node: ts.Expression, scope: Scope): unknown {
  if (ts.isStringLiteral(node)) return node.text;
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (node.kind === ts.SyntaxKind.TrueKeyword) return true;
  if (node.kind === ts.SyntaxKind.FalseKeyword) return false;
  if (node.kind === ts.SyntaxKind.NullKeyword) return null;
  if (ts.isIdentifier(node) && scope.has(node.text)) return scope.get(node.text);
  if (ts.isArrayLiteralExpression(node)) return node.elements.map((element) => evaluate(element, scope));
  if (ts.isObjectLiteralExpression(node)) return objectOf(node, scope);
  if (ts.isCallExpression(node)) {
    const called = evaluate(node.expression, scope);
    if (typeof called === 'function') return called(...node.arguments.map((value) => evaluate(value, scope)));
  }
  throw new Error(`not a literal: ${node.getText()}`);
}

/** As the language does it: a bare `__proto__` is no property, a computed one is. */
function objectOf(node: ts.ObjectLiteralExpression, scope: Scope): unknown {
  const entries = node.properties.map((property): readonly [string, unknown] => {
    if (!ts.isPropertyAssignment(property)) throw new Error(`not a property: ${property.getText()}`);
    const { name, initializer } = property;
    if (ts.isComputedPropertyName(name))
      return [String(evaluate(name.expression, scope)), evaluate(initializer, scope)];
    if (!('text' in name) || name.text === '__proto__') throw new Error(`sets the prototype: ${property.getText()}`);
    return [String(name.text), evaluate(initializer, scope)];
  });
  return Object.fromEntries(entries);
}
