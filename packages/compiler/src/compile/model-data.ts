/** The facts of generated files, for a server without the files. */
import {
  type AccessClass,
  type CachedTables,
  type CollectionDescriptor,
  type CustomRoute,
  type Fingerprint,
  type FunctionDescriptor,
  itemRoutes,
  type KnownOperation,
  type Route,
  type RowSecurity,
} from '@tablewright/runtime/language';
import type { Api, ApiCollection } from '../api.ts';
import { createFacts } from '../cache/same.ts';
import { hasRoutes, writtenActions } from '../emit/routes.ts';

/** The facts of generated files, as plain data that threads can send each other. */
export interface ModelData {
  readonly collections: readonly CollectionDescriptor[];
  readonly access: readonly AccessClass[];
  readonly routes: readonly (Omit<Route, 'collection'> & { readonly collection: string })[];
  readonly fingerprint: Fingerprint;
  readonly permissionsDigest?: string;
  readonly modelDigest?: string;
  readonly functions?: readonly FunctionDescriptor[];
  readonly rowSecurity?: RowSecurity;
  readonly caching?: CachedTables;
  readonly customRoutes: readonly CustomRoute[];
  readonly operations: readonly KnownOperation[];
  readonly graphql: boolean;
}

const routesOf = createFacts<ApiCollection, ModelData['routes']>();

function findRoutes(collection: ApiCollection): ModelData['routes'] {
  if (!hasRoutes(collection)) return [];
  const { descriptor } = collection;
  return itemRoutes(descriptor, ...writtenActions(collection)).map((route) => ({
    ...route,
    collection: descriptor.name,
  }));
}

/** Gathers it of an API whose routes are resolved; `operations` are those of the project's documents. */
export function modelData(api: Api, operations: readonly KnownOperation[]): ModelData {
  return {
    collections: api.collections.map(({ descriptor }) => descriptor),
    access: api.access.map(({ access }) => access),
    routes: api.collections.flatMap((collection) => routesOf(collection, () => findRoutes(collection))),
    // As plain data, which holds nothing of the schema.
    fingerprint: { ...api.fingerprint },
    ...(api.permissionsDigest !== undefined && { permissionsDigest: api.permissionsDigest }),
    ...(api.model !== undefined && { modelDigest: api.model.digest }),
    ...(api.functions && { functions: api.functions.map(({ descriptor }) => descriptor) }),
    ...(api.rowSecurity !== undefined && { rowSecurity: api.rowSecurity }),
    ...(api.caching && { caching: api.caching }),
    customRoutes: api.customRoutes,
    operations: operations.map(({ name, role, accessClass, scope, hash }) => ({
      name,
      role,
      accessClass,
      scope,
      hash,
    })),
    graphql: api.graphql,
  };
}
