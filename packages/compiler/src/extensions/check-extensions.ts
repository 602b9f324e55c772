/**
 * The law of extensions: each file exports what `defineExtension` makes, and waits only for what there is. Types are left
 * to the type checker, which knows them better; this finds what would end in a server that does not start.
 */
import { type Diagnostic, didYouMean } from '@platform/introspect';
import type { Node, SourceFile } from 'ts-morph';
import type { Api, Operation } from '../api.ts';
import { loadTsMorph } from '../print/load-ts-morph.ts';
import type { ExtensionSource } from './source.ts';

/** Everything that is wrong with the extensions of a project, with file, line and column. */
export function checkExtensions(api: Api, sources: readonly ExtensionSource[]): readonly Diagnostic[] {
  if (sources.length === 0) return [];
  const { Project } = loadTsMorph();
  const project = new Project({ useInMemoryFileSystem: true, skipLoadingLibFiles: true });
  const events = eventsOf(api);
  return sources.flatMap(({ path, text }) => {
    const file = project.createSourceFile(`/${path}`, text);
    const broken = project.getProgram().getSyntacticDiagnostics(file);
    if (broken.length === 0) return checkFile(file, path, events);
    return broken.slice(0, 1).map((fault): Diagnostic => {
      const place = placeAt(file, path, fault.getStart());
      const message = fault.getMessageText();
      const sentence = typeof message === 'string' ? message : message.getMessageText();
      return problem('extension-syntax', place, sentence, 'Correct the file: it is TypeScript.');
    });
  });
}

/** `articles.create` and all others that a request can bring about. */
function eventsOf({ collections }: Api): ReadonlySet<string> {
  const names = collections.flatMap(({ descriptor, operations }) =>
    operations.flatMap(({ kind }) => {
      const action = actions[kind];
      return action === null ? [] : [`${descriptor.name}.${action}`];
    }),
  );
  return new Set(names);
}

const actions: Readonly<Record<Operation['kind'], 'create' | 'update' | 'delete' | null>> = {
  list: null,
  search: null,
  read: null,
  readSingleton: null,
  create: 'create',
  update: 'update',
  updateMany: 'update',
  updateSingleton: 'update',
  delete: 'delete',
  deleteMany: 'delete',
};

function checkFile(file: SourceFile, path: string, events: ReadonlySet<string>): readonly Diagnostic[] {
  const { Node } = loadTsMorph();
  const exported = file.getExportAssignment((one) => !one.isExportEquals())?.getExpression();
  if (exported === undefined || !Node.isCallExpression(exported)) {
    const place = exported === undefined ? path : placeAt(file, path, exported.getStart());
    const hint = 'Write `export default defineExtension(({ before }) => { … })`.';
    return [problem('extension-export', place, 'The default export is no call of "defineExtension".', hint)];
  }
  const [register] = exported.getArguments();
  if (register === undefined) return [];
  const tools = registering(register);
  return register.getDescendants().flatMap((node) => {
    if (!Node.isCallExpression(node) || !tools.has(node.getExpression().getText())) return [];
    const [event] = node.getArguments();
    return event === undefined ? [] : checkEvent(event, placeAt(file, path, event.getStart()), events);
  });
}

const stages: ReadonlySet<string> = new Set(['before', 'after', 'afterCommit']);

/** The expressions that register hooks: `before`, a name it was given, or `tools.before`. */
function registering(register: Node): ReadonlySet<string> {
  const { Node } = loadTsMorph();
  if (!Node.isArrowFunction(register) && !Node.isFunctionExpression(register)) return new Set();
  const [parameter] = register.getParameters();
  const name = parameter?.getNameNode();
  if (name === undefined || !Node.isObjectBindingPattern(name)) {
    return new Set([...stages].map((stage) => `${name?.getText()}.${stage}`));
  }
  const elements = name
    .getElements()
    .filter((one) => stages.has(one.getPropertyNameNode()?.getText() ?? one.getName()));
  return new Set(elements.map((one) => one.getName()));
}

function checkEvent(event: Node, place: string, events: ReadonlySet<string>): readonly Diagnostic[] {
  const { Node } = loadTsMorph();
  if (!Node.isStringLiteral(event) && !Node.isNoSubstitutionTemplateLiteral(event)) {
    const message = 'The event of a hook is not written as text.';
    return [problem('extension-event', place, message, "Write it as 'articles.create'.")];
  }
  const name = event.getLiteralText();
  if (events.has(name)) return [];
  const near = didYouMean(name, events);
  const hint =
    near === null ? 'Events are collection and action: create, update or delete.' : `Did you mean "${near}"?`;
  return [problem('extension-event', place, `There is no event "${name}".`, hint)];
}

function placeAt(file: SourceFile, path: string, position: number): string {
  const { line, column } = file.getLineAndColumnAtPos(position);
  return `${path}:${line}:${column}`;
}

function problem(code: string, place: string, message: string, hint: string): Diagnostic {
  return { code, severity: 'error', place, message: message.endsWith('.') ? message : `${message}.`, hint };
}
