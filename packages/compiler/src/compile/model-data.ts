/** The facts of generated files, for a server without the files. */
import type {
  AccessClass,
  CollectionDescriptor,
  CustomRoute,
  Fingerprint,
  KnownOperation,
  Route,
} from '@tablewright/runtime/language';
import type { Api, ApiCollection, Operation } from '../api.ts';
import { createFacts } from '../cache/facts.ts';

/** The facts of generated files, as plain data that threads can send each other. */
export interface ModelData {
  readonly collections: readonly CollectionDescriptor[];
  readonly access: readonly AccessClass[];
  readonly routes: readonly (Omit<Route, 'collection'> & { readonly collection: string })[];
  readonly fingerprint: Fingerprint;
  readonly permissionsDigest?: string;
  readonly modelDigest?: string;
  readonly customRoutes: readonly CustomRoute[];
  readonly operations: readonly KnownOperation[];
  readonly graphql: boolean;
}

/** Meaning of each kind of operation that generated files name, as the runtime's functions give it. */
const meanings: Readonly<Record<Operation['kind'], Pick<Route, 'operation' | 'byKey'>>> = {
  list: { operation: 'list', byKey: false },
  search: { operation: 'search', byKey: false },
  read: { operation: 'read', byKey: true },
  readSingleton: { operation: 'read', byKey: false },
  create: { operation: 'create', byKey: false },
  update: { operation: 'update', byKey: true },
  updateMany: { operation: 'update', byKey: false },
  updateSingleton: { operation: 'update', byKey: false },
  delete: { operation: 'delete', byKey: true },
  deleteMany: { operation: 'delete', byKey: false },
};

const routesOf = createFacts<ApiCollection, ModelData['routes']>();

function findRoutes({ descriptor, operations }: ApiCollection): ModelData['routes'] {
  return operations.map(({ kind, method, path }) => ({
    path: `${method} ${path}`,
    method,
    ...meanings[kind],
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
