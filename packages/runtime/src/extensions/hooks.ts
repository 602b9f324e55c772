/** The hooks of a server by what they wait for, and how one is called. */

import { inTime } from '../database/waits.ts';
import type { CompiledApi, Extension, HookEvent, RegisteredHook, RegisteredRoute, Stage } from '../language/index.ts';
import { findOrCreate } from '../language/values/once.ts';
import type { ExtensionTools } from './types.ts';

type Register = (event: string, hook: (event: never) => unknown) => void;
type RegisterRoute = (path: string, options: unknown, handler: (request: never) => unknown) => void;
type Tools = Readonly<Record<Stage, Register>> & { readonly route: RegisterRoute };

/**
 * Collects what an extension registers. Generated code gives it the types of the project.
 * @example export const defineExtension: DefineExtension<Collections, Role> = extension;
 */
export function extension<C, Role extends string>(register: (tools: ExtensionTools<C, Role>) => void): Extension;
// The types of events exist for the type checker only: here they are names and plain data.
export function extension(register: (tools: Tools) => void): Extension {
  const hooks: RegisteredHook[] = [];
  const routes: RegisteredRoute[] = [];
  const registerAt =
    (stage: Stage): Register =>
    (event, run) =>
      void hooks.push({ stage, event, run });
  register({
    before: registerAt('before'),
    after: registerAt('after'),
    afterCommit: registerAt('afterCommit'),
    // The roles that may call it, its input and its output were compiled.
    route: (path, _options, run) => void routes.push({ path, run }),
  });
  return { hooks, routes };
}

/** The hooks of one event, in the order in which they were registered. */
export type EventHooks = Readonly<Record<Stage, readonly RegisteredHook[]>>;

export interface Hooks {
  /** The hooks of an event, `articles.create`; undefined when none is registered for it. */
  of(event: string): EventHooks | undefined;
  /** Names of the collections that some hook waits for. */
  readonly collections: ReadonlySet<string>;
}

/** Puts another hook in the place of one, to observe its runs. */
export type ObserveHook = (hook: RegisteredHook) => RegisteredHook;

/** Gathers the hooks of all extensions. Throws for an event that the API has not: the types were passed by then. */
export function gatherHooks(
  { extensions = [], routes }: CompiledApi,
  observeHook: ObserveHook = (hook) => hook,
): Hooks {
  const events = new Map<string, string>(
    routes.map(({ collection: { name }, operation }) => [`${name}.${operation}`, name]),
  );
  const collections = new Set<string>();
  const byEvent = new Map<string, Record<Stage, RegisteredHook[]>>();
  for (const hook of extensions.flatMap(({ hooks }) => hooks)) {
    const collection = events.get(hook.event);
    if (collection === undefined) throw new Error(`An extension waits for "${hook.event}", which there is not.`);
    collections.add(collection);
    const stages = findOrCreate(byEvent, hook.event, () => ({ before: [], after: [], afterCommit: [] }));
    stages[hook.stage].push(observeHook(hook));
  }
  return { of: (event) => byEvent.get(event), collections };
}

/** Calls a hook and waits for it, so many milliseconds at most; then it rejects, and the hook is left to itself. */
export async function callHook(
  { stage, event, run }: RegisteredHook,
  hookEvent: HookEvent,
  timeoutMs: number,
): Promise<void> {
  await codeInTime(run(hookEvent), timeoutMs, `The hook ${stage}('${event}')`);
}

/** Waits for code of a project, so many milliseconds at most. `what` begins the message of the error that comes then. */
export function codeInTime<T>(running: T | PromiseLike<T>, timeoutMs: number, what: string): Promise<T> {
  const late = () => Promise.reject(new Error(`${what} took longer than ${timeoutMs} ms.`));
  // Query builders give promises that are none of Node's class.
  return inTime(Promise.resolve(running), timeoutMs, late);
}
