import type { Schema } from '@tablewright/introspect/schema';
import { compileTemplates } from '../emit/templates.ts';
import { type RouteHead, readRoutes, roleNames } from '../extensions/read-routes.ts';
import type { ExtensionSource, ModuleSource } from '../extensions/source.ts';
import { type TypedRoute, typeRoutes } from '../extensions/type-routes.ts';
import { resolveApi } from '../passes/resolve-api.ts';
import { emitCollections } from './emit-files.ts';

/** The routes of a project's own code with their types, which do not depend on anybody's rules. */
export interface ReadRoutes {
  readonly heads: readonly RouteHead[];
  readonly routes: readonly TypedRoute[];
}

/** Sources that routes are read from. */
export interface CustomRouteSources {
  readonly templates: ReadonlyMap<string, string>;
  readonly extensions: readonly ExtensionSource[];
  readonly modules: readonly ModuleSource[];
  /** Folder of the generated files from the project's folder on. */
  readonly output: string;
}

/** Reads them once for every compilation that follows. Takes a second where there are any. */
export function readCustomRoutes(schema: Schema, sources: CustomRouteSources): ReadRoutes {
  const { extensions, modules, output } = sources;
  const { heads } = readRoutes(roleNames(schema), extensions);
  if (heads.length === 0) return { heads, routes: [] };
  const collections = emitCollections(resolveApi(schema, heads), compileTemplates(sources.templates));
  const generated = collections.map(({ path, contents }) => ({ path: `${output}/${path}`, text: contents }));
  return { heads, routes: typeRoutes(heads, [...modules, ...extensions, ...generated]).routes };
}
