/** Requests and root fields of a collection, as a role has them. */
import { type GraphqlOperation, graphqlCollectionRoots } from '@tablewright/runtime/language';
import type { ApiCollection, Operation } from '../api.ts';
import type { RoleCollection } from '../role-view/role-view.ts';

/** Operations that a change concerns. */
export type Concern = 'read' | 'create' | 'update' | 'delete' | 'all';

const kinds: Readonly<Record<Exclude<Concern, 'all'>, ReadonlySet<Operation['kind']>>> = {
  read: new Set(['list', 'search', 'read', 'readSingleton']),
  create: new Set(['create']),
  update: new Set(['update', 'updateMany', 'updateSingleton']),
  delete: new Set(['delete', 'deleteMany']),
};

const roots: Readonly<Record<GraphqlOperation, Exclude<Concern, 'all'>>> = {
  list: 'read',
  singleton: 'read',
  byKey: 'read',
  connection: 'read',
  aggregate: 'read',
  createOne: 'create',
  createMany: 'create',
  updateOne: 'update',
  updateMany: 'update',
  updateBatch: 'update',
  updateSingleton: 'update',
  deleteOne: 'delete',
  deleteMany: 'delete',
};

/** True if a role has an operation of that kind at all. */
export function offers({ readable, writes }: RoleCollection, concern: Exclude<Concern, 'all'>): boolean {
  if (concern === 'read') return readable;
  return concern === 'delete' ? writes?.delete === true : writes?.[concern] != null;
}

/** `GET /items/articles`, `query articles`, in the order of the API; those that the role has. */
export function operationsOf(
  view: RoleCollection,
  api: ApiCollection | undefined,
  concern: Concern,
  graphql: boolean,
): readonly string[] {
  if (api === undefined) return [];
  const requested = (concern === 'all' ? (['read', 'create', 'update', 'delete'] as const) : [concern]).filter(
    (action) => offers(view, action),
  );
  const rest = api.operations.filter(({ kind }) => requested.some((action) => kinds[action].has(kind)));
  const fields = graphql && api.operations.length > 0 ? graphqlCollectionRoots(api.descriptor) : [];
  return [
    ...rest.map(({ method, path }) => `${method} ${path}`),
    ...fields
      .filter(({ operation }) => requested.includes(roots[operation]))
      .map(({ kind, name }) => `${kind} ${name}`),
  ];
}
