/** The one-line calls of which generated route files consist. */
import type { CollectionDescriptor, CompiledApi, Route } from '../language/index.ts';

/**
 * Links `GET /items/<collection>`: the items that a caller may read.
 * @example const route = listItems('GET /items/articles', articles);
 */
export function listItems(path: `GET /${string}`, collection: CollectionDescriptor): Route {
  return { path, method: 'GET', operation: 'list', collection, byKey: false };
}

/**
 * Links `SEARCH /items/<collection>`: the list, or the singleton's only item, with the query in the body.
 * @example const route = searchItems('SEARCH /items/articles', articles);
 */
export function searchItems(path: `SEARCH /${string}`, collection: CollectionDescriptor): Route {
  return { path, method: 'SEARCH', operation: 'search', collection, byKey: false };
}

/**
 * Links `GET /items/<collection>/:key`: one item by its key.
 * @example const route = readItem('GET /items/articles/:key', articles);
 */
export function readItem(path: `GET /${string}/:key`, collection: CollectionDescriptor): Route {
  return { path, method: 'GET', operation: 'read', collection, byKey: true };
}

/**
 * Links `GET /items/<collection>` of a singleton: its only item.
 * @example const route = readSingleton('GET /items/about', about);
 */
export function readSingleton(path: `GET /${string}`, collection: CollectionDescriptor): Route {
  return { path, method: 'GET', operation: 'read', collection, byKey: false };
}

/**
 * Links `POST /items/<collection>`: new items, one or many.
 * @example const route = createItems('POST /items/articles', articles);
 */
export function createItems(path: `POST /${string}`, collection: CollectionDescriptor): Route {
  return { path, method: 'POST', operation: 'create', collection, byKey: false };
}

/**
 * Links `PATCH /items/<collection>/:key`: changes of one item.
 * @example const route = updateItem('PATCH /items/articles/:key', articles);
 */
export function updateItem(path: `PATCH /${string}/:key`, collection: CollectionDescriptor): Route {
  return { path, method: 'PATCH', operation: 'update', collection, byKey: true };
}

/**
 * Links `PATCH /items/<collection>`: changes of items that the body names by key or query.
 * @example const route = updateItems('PATCH /items/articles', articles);
 */
export function updateItems(path: `PATCH /${string}`, collection: CollectionDescriptor): Route {
  return { path, method: 'PATCH', operation: 'update', collection, byKey: false };
}

/**
 * Links `PATCH /items/<collection>` of a singleton: changes of its only item, which is made when it is not there.
 * @example const route = updateSingleton('PATCH /items/about', about);
 */
export function updateSingleton(path: `PATCH /${string}`, collection: CollectionDescriptor): Route {
  return { path, method: 'PATCH', operation: 'update', collection, byKey: false };
}

/**
 * Links `DELETE /items/<collection>/:key`: one item by its key.
 * @example const route = deleteItem('DELETE /items/articles/:key', articles);
 */
export function deleteItem(path: `DELETE /${string}/:key`, collection: CollectionDescriptor): Route {
  return { path, method: 'DELETE', operation: 'delete', collection, byKey: true };
}

/**
 * Links `DELETE /items/<collection>`: items that the body names by key or query.
 * @example const route = deleteItems('DELETE /items/articles', articles);
 */
export function deleteItems(path: `DELETE /${string}`, collection: CollectionDescriptor): Route {
  return { path, method: 'DELETE', operation: 'delete', collection, byKey: false };
}

/**
 * Takes what was generated as one API. `serve` refuses one that was made for another contract.
 * @example export const api = compiledApi({ contract: 1, dialect, collections, access, routes, fingerprint, model, openapi });
 */
export function compiledApi(api: CompiledApi): CompiledApi {
  return api;
}
