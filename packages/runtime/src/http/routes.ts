/** The one-line calls of which generated route files consist. */
import type { CollectionDescriptor, CompiledApi, Route } from '../language/index.ts';

/** Links `GET /items/<collection>`: the items that a caller may read. */
export function listItems(path: `GET /${string}`, collection: CollectionDescriptor): Route {
  return { path, method: 'GET', operation: 'list', collection, byKey: false };
}

/** Links `SEARCH /items/<collection>`: the list, or the singleton's only item, with the query in the body. */
export function searchItems(path: `SEARCH /${string}`, collection: CollectionDescriptor): Route {
  return { path, method: 'SEARCH', operation: 'search', collection, byKey: false };
}

/** Links `GET /items/<collection>/:key`: one item by its key. */
export function readItem(path: `GET /${string}/:key`, collection: CollectionDescriptor): Route {
  return { path, method: 'GET', operation: 'read', collection, byKey: true };
}

/** Links `GET /items/<collection>` of a singleton: its only item. */
export function readSingleton(path: `GET /${string}`, collection: CollectionDescriptor): Route {
  return { path, method: 'GET', operation: 'read', collection, byKey: false };
}

/** Links `POST /items/<collection>`: new items, one or many. */
export function createItems(path: `POST /${string}`, collection: CollectionDescriptor): Route {
  return { path, method: 'POST', operation: 'create', collection, byKey: false };
}

/** Links `PATCH /items/<collection>/:key`: changes of one item. */
export function updateItem(path: `PATCH /${string}/:key`, collection: CollectionDescriptor): Route {
  return { path, method: 'PATCH', operation: 'update', collection, byKey: true };
}

/** Links `PATCH /items/<collection>`: changes of items that the body names by key or query. */
export function updateItems(path: `PATCH /${string}`, collection: CollectionDescriptor): Route {
  return { path, method: 'PATCH', operation: 'update', collection, byKey: false };
}

/** Links `PATCH /items/<collection>` of a singleton: changes of its only item, which is made when it is not there. */
export function updateSingleton(path: `PATCH /${string}`, collection: CollectionDescriptor): Route {
  return { path, method: 'PATCH', operation: 'update', collection, byKey: false };
}

/** Links `DELETE /items/<collection>/:key`: one item by its key. */
export function deleteItem(path: `DELETE /${string}/:key`, collection: CollectionDescriptor): Route {
  return { path, method: 'DELETE', operation: 'delete', collection, byKey: true };
}

/** Links `DELETE /items/<collection>`: items that the body names by key or query. */
export function deleteItems(path: `DELETE /${string}`, collection: CollectionDescriptor): Route {
  return { path, method: 'DELETE', operation: 'delete', collection, byKey: false };
}

/**
 * Takes what was generated as one API. `serve` refuses one that was made for another contract.
 *
 * ```ts
 * export const api = compiledApi({ contract: 1, dialect: 'postgres', collections, access, routes, fingerprint, openapi });
 * ```
 */
export function compiledApi(api: CompiledApi): CompiledApi {
  return api;
}
