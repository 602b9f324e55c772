/** The one-line call that states the routes of a collection. */
import type { Route } from './api.ts';
import type { CollectionDescriptor } from './collection.ts';

/** Actions of payloads that routes lead to. */
export type WriteAction = 'create' | 'update' | 'delete';

/**
 * States the routes of a collection below its path: those that read it, and those of the actions. Without a key it is
 * only listed, and a singleton is one item without keys.
 * @example const routes = itemRoutes(articles, 'create', 'update', 'delete');
 */
export function itemRoutes(collection: CollectionDescriptor, ...actions: readonly WriteAction[]): readonly Route[] {
  const { key, singleton } = collection;
  const isKeyed = key.length > 0;
  const routes = singleton ? singletonRoutes(isKeyed, actions) : listedRoutes(isKeyed, actions);
  return routes.map(([method, operation, byKey = false]) => ({ method, operation, collection, byKey }));
}

type Stated = readonly [method: Route['method'], operation: Route['operation'], byKey?: boolean];

const search: Stated = ['SEARCH', 'search'];

function singletonRoutes(isKeyed: boolean, actions: readonly WriteAction[]): readonly Stated[] {
  const changed: readonly Stated[] = isKeyed && actions.includes('update') ? [['PATCH', 'update']] : [];
  return [['GET', 'read'], search, ...changed];
}

function listedRoutes(isKeyed: boolean, actions: readonly WriteAction[]): readonly Stated[] {
  const listed: readonly Stated[] = [['GET', 'list'], search];
  return isKeyed ? [...listed, ['GET', 'read', true], ...actions.flatMap((action) => writeRoutes[action])] : listed;
}

const writeRoutes: Readonly<Record<WriteAction, readonly Stated[]>> = {
  create: [['POST', 'create']],
  update: [
    ['PATCH', 'update', true],
    ['PATCH', 'update'],
  ],
  delete: [
    ['DELETE', 'delete', true],
    ['DELETE', 'delete'],
  ],
};
