/**
 * The law of extensions: each file exports what `defineExtension` makes, and waits only for what there is. Types are left
 * to the type checker, which knows them better; this finds what would end in a server that does not start.
 */
import type { Diagnostic } from '@tablewright/introspect';
import { didYouMean } from '@tablewright/introspect/did-you-mean';
import type { Node, SourceFile } from 'ts-morph';
import type { Api, Operation } from '../api.ts';
import { loadTsMorph } from '../print/libraries.ts';
import {
  type ExtensionSource,
  escapesIn,
  exportedBy,
  literalText,
  placeAt,
  placeOf,
  problem,
  registerOf,
  registrationsIn,
} from './files.ts';
import { readHooks } from './listed.ts';

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
      const location = placeAt(file, path, fault.getStart());
      const message = fault.getMessageText();
      const sentence = typeof message === 'string' ? message : message.getMessageText();
      return problem('extension-syntax', location, sentence, 'Correct the file: it is TypeScript.');
    });
  });
}

/** The collections with a hook before `create`, which may fill what a new item needs. */
export function hookedCollections({ collections }: Api, sources: readonly ExtensionSource[]): readonly string[] {
  const before = new Set(readHooks(sources).flatMap(({ stage, event }) => (stage === 'before' ? event : [])));
  return collections.map(({ descriptor }) => descriptor.name).filter((name) => before.has(`${name}.create`));
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
  const exported = exportedBy(file);
  if (!Node.isCallExpression(exported)) {
    const location = exported === undefined ? path : placeOf(exported, path);
    const hint = 'Write `export default defineExtension(({ before }) => { … })`.';
    return [problem('extension-export', location, 'The default export is no call of "defineExtension".', hint)];
  }
  const register = registerOf(file);
  if (Node.isAsyncable(register) && register.isAsync()) {
    const message = 'The function that registers is async, and the server does not wait for it.';
    const hint = 'Leave out `async`, and write `await` before the call of "defineExtension", or in the hooks.';
    return [problem('extension-async', placeOf(register, path), message, hint)];
  }
  const faults = registrationsIn(file).flatMap(({ tool, call }) => {
    const [event] = call.getArguments();
    return tool === 'route' || event === undefined ? [] : checkEvent(event, placeOf(event, path), events);
  });
  return [...faults, ...escapesIn(file).map((node) => unread(node, placeOf(node, path)))];
}

function unread(node: Node, location: string): Diagnostic {
  return {
    code: 'extension-unread',
    severity: 'warning',
    place: location,
    message: `Registrations through "${nameOf(node)}" are not read here: extensions.json lacks their hooks, and the server refuses their routes.`,
    hint: 'Call `before`, `after`, `afterCommit` and `route` in this function; the code that they run may stand elsewhere.',
  };
}

/** The beginning of its text, which may be a whole function. */
function nameOf(node: Node): string {
  const text = node.getText();
  const [line = ''] = text.slice(0, 60).split('\n');
  return line === text ? text : `${line.trimEnd()}…`;
}

function checkEvent(event: Node, location: string, events: ReadonlySet<string>): readonly Diagnostic[] {
  const name = literalText(event);
  if (name === undefined) {
    const message = 'The event of a hook is not written as text.';
    return [problem('extension-event', location, message, "Write it as 'articles.create'.")];
  }
  if (events.has(name)) return [];
  const near = didYouMean(name, events);
  const hint =
    near === null ? 'Events are collection and action: create, update or delete.' : `Did you mean "${near}"?`;
  return [problem('extension-event', location, `There is no event "${name}".`, hint)];
}
