/** The project's own code as data: the file by which two versions are compared without running either. */
import type { JsonValue, Stage } from '@tablewright/runtime/language';
import { printJson } from '../print/json.ts';
import { loadTsMorph } from '../print/libraries.ts';
import { type ExtensionSource, literalText, placeOf, registrationsIn } from './files.ts';
import type { TypedRoute } from './type-routes.ts';

/** The file among those that are generated, where there are extensions. */
export const listedFile = 'extensions.json';

/** Registrations of a version's extensions. */
export interface ListedExtensions {
  /** By path and method. */
  readonly routes: readonly TypedRoute[];
  /** `before orders.create`, sorted; one that is registered twice stands there twice. */
  readonly hooks: readonly string[];
}

export function listExtensions(sources: readonly ExtensionSource[], routes: readonly TypedRoute[]): ListedExtensions {
  const order = ({ method, path }: TypedRoute): string => `${path} ${method}`;
  const sorted = routes.map((route) => ({ ...route, roles: [...new Set(route.roles)].sort() }));
  const hooks = readHooks(sources).map(({ stage, event }) => `${stage} ${event}`);
  return { routes: sorted.sort((a, b) => (order(a) < order(b) ? -1 : 1)), hooks: hooks.sort() };
}

export function printListed({ routes, hooks }: ListedExtensions): string {
  const plain: JsonValue = JSON.parse(JSON.stringify({ routes, hooks }));
  return printJson(plain);
}

/** A hook where it is registered. */
export interface ReadHook {
  readonly stage: Stage;
  /** `articles.create` */
  readonly event: string;
  /** `extensions/orders.ts:4:3` */
  readonly place: string;
}

/** The hooks of all files in order of registration: files by name, hooks of a file by position. */
export function readHooks(sources: readonly ExtensionSource[]): readonly ReadHook[] {
  if (sources.length === 0) return [];
  const { Project } = loadTsMorph();
  const project = new Project({ useInMemoryFileSystem: true, skipLoadingLibFiles: true });
  return sources.flatMap(({ path, text }) =>
    registrationsIn(project.createSourceFile(`/${path}`, text)).flatMap(({ tool, call }): readonly ReadHook[] => {
      if (tool === 'route') return [];
      const event = literalText(call.getArguments()[0]);
      return event === undefined ? [] : [{ stage: tool, event, place: placeOf(call, path) }];
    }),
  );
}
