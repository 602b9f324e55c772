/** The hooks of a project, read from their text: nothing of its code is run. */
import { type ReadHook, readHooks } from '@tablewright/compiler';
import type { CompiledApi, Extension } from '@tablewright/runtime';
import { loadExtensions } from '../project/extensions.ts';
import type { Project } from '../project/project.ts';
import type { Progress } from '../terminal/progress.ts';

/** The hooks whose events the API has, in the order in which a server calls those of one stage. */
export async function hooksOfProject(project: Project, { routes }: CompiledApi): Promise<readonly ReadHook[]> {
  const events = new Set(routes.map(({ collection, operation }) => `${collection.name}.${operation}`));
  return readHooks(await loadExtensions(project)).filter(({ event }) => events.has(event));
}

/** Stands for the extensions that register these hooks, where it is asked which there are. */
export function namedExtension(hooks: readonly ReadHook[]): Extension {
  const run = (): never => {
    throw new Error('who only asks runs no code of the project');
  };
  return { hooks: hooks.map(({ stage, event }) => ({ stage, event, run })), routes: [] };
}

/** Prints hooks by their names, `before articles.create`, and where each is registered. */
export function printHooks(names: readonly string[], hooks: readonly ReadHook[], progress: Progress): void {
  if (names.length === 0) return;
  const places = Map.groupBy(hooks, ({ stage, event }) => `${stage} ${event}`);
  const next = new Map([...places].map(([name, found]) => [name, found.values()]));
  progress.print('hooks    code of the project, which may change or refuse this, and is not run here');
  for (const name of names) progress.print(`           ${name} at ${next.get(name)?.next().value?.place ?? ''}`);
}
