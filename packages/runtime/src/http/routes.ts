/** The one-line calls of which generated route files consist. */
import type { CollectionDescriptor, CompiledApi, Route } from '../contract/index.ts';

/** Links `GET /items/<collection>`: the items that a caller may read. */
export function listItems(path: `GET /items/${string}`, collection: CollectionDescriptor): Route {
  return { path, method: 'GET', operation: 'list', collection, byKey: false };
}

/** Links `SEARCH /items/<collection>`: the list, or the singleton's only item, with the query in the body. */
export function searchItems(path: `SEARCH /items/${string}`, collection: CollectionDescriptor): Route {
  return { path, method: 'SEARCH', operation: 'search', collection, byKey: false };
}

/** Links `GET /items/<collection>/:key`: one item by its key. */
export function readItem(path: `GET /items/${string}/:key`, collection: CollectionDescriptor): Route {
  return { path, method: 'GET', operation: 'read', collection, byKey: true };
}

/** Links `GET /items/<collection>` of a singleton: its only item. */
export function readSingleton(path: `GET /items/${string}`, collection: CollectionDescriptor): Route {
  return { path, method: 'GET', operation: 'read', collection, byKey: false };
}

/** Format of generated files that this runtime links. */
const knownFormat = 1;

/**
 * Takes what was generated as one API. Throws when another version of the compiler wrote it in a format this runtime
 * does not know.
 *
 * ```ts
 * export const api = compiledApi({ format: 1, dialect: 'postgres', collections, access, routes, fingerprint, openapi });
 * ```
 */
export function compiledApi(api: CompiledApi): CompiledApi {
  const format: number = api.format;
  if (format !== knownFormat) {
    throw new Error(`The API was generated in format ${format}, this runtime links ${knownFormat}. Generate it again.`);
  }
  return api;
}
