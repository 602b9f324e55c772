/** The routes below `/items`: from a path to a planned read of one collection. Source: specification, section 4. */
import type { Caller } from '../caller.ts';
import type { CollectionDescriptor, CompiledApi, JsonValue, Route } from '../contract/index.ts';
import { PlatformError } from '../errors.ts';
import type { Exchange } from './answer.ts';
import type { PlannedRead, Reader } from './read.ts';

/** Plans reads. Throws `PlatformError` for whatever the caller may not ask or does not ask right. */
export interface ReadPlanner {
  /** `query` is the raw query string. A singleton is planned as the list of its only item. */
  list(caller: Caller, collection: CollectionDescriptor, query: string): PlannedRead;
  /** `body` is the parsed body of a SEARCH request, undefined for an empty one. */
  search(caller: Caller, collection: CollectionDescriptor, body: JsonValue | undefined): PlannedRead;
  /** `key` is the last path segment as it was sent. */
  read(caller: Caller, collection: CollectionDescriptor, key: string, query: string): PlannedRead;
}

/** One request below `/items`. */
export interface ItemRequest {
  readonly exchange: Exchange;
  readonly caller: Caller;
  readonly collection: string;
  readonly query: string;
}

/** Handlers of the routes below `/items`. They reject with the error that answers the request. */
export interface ItemHandlers {
  list(request: ItemRequest): Promise<void>;
  search(request: ItemRequest, body: JsonValue | undefined): Promise<void>;
  read(request: ItemRequest, key: string): Promise<void>;
}

/** Links the compiled routes with the planner and the reader. */
export function createItemHandlers(api: CompiledApi, planner: ReadPlanner, reader: Reader): ItemHandlers {
  const lists = linkRoutes(api, (route) => route.method === 'GET' && !route.byKey);
  const searches = linkRoutes(api, (route) => route.method === 'SEARCH');
  const reads = linkRoutes(api, (route) => route.method === 'GET' && route.byKey);
  const singletons = new Set(api.collections.filter(({ singleton }) => singleton).map(({ name }) => name));
  const readable = new Map(api.access.map(({ name, collections }) => [name, readableNames(collections)]));

  function answer(request: ItemRequest, collection: CollectionDescriptor, planned: PlannedRead): Promise<void> {
    return collection.singleton ? reader.singleton(request.exchange, planned) : reader.list(request.exchange, planned);
  }

  return {
    async list(request) {
      const { collection } = linked(lists, request.collection);
      await answer(request, collection, planner.list(request.caller, collection, request.query));
    },
    async search(request, body) {
      const { collection } = linked(searches, request.collection);
      await answer(request, collection, planner.search(request.caller, collection, body));
    },
    async read(request, key) {
      // A singleton has no keys; who may not read it must not learn even that.
      if (singletons.has(request.collection) && readable.get(request.caller.accessClass)?.has(request.collection)) {
        throw new PlatformError('ROUTE_NOT_FOUND');
      }
      const { collection } = linked(reads, request.collection);
      await reader.item(request.exchange, planner.read(request.caller, collection, key, request.query));
    },
  };
}

/** Unknown collections, and operations that a collection does not have, look like hidden ones. */
function linked(routes: ReadonlyMap<string, Route>, collection: string): Route {
  const route = routes.get(collection);
  if (route === undefined) throw new PlatformError('FORBIDDEN');
  return route;
}

/** System collections have paths of their own, so they are never linked below `/items`. */
function linkRoutes(api: CompiledApi, wanted: (route: Route) => boolean): ReadonlyMap<string, Route> {
  const routes = api.routes.filter((route) => wanted(route) && !route.collection.name.startsWith('platform_'));
  return new Map(routes.map((route) => [route.collection.name, route]));
}

function readableNames(collections: CompiledApi['access'][number]['collections']): ReadonlySet<string> {
  return new Set(collections.filter(({ read }) => read !== undefined && read.length > 0).map((one) => one.collection));
}
