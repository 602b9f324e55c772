/** The routes below `/items`: from a path to a planned read of one collection. Source: specification, section 4. */
import type { Caller } from '../caller.ts';
import type { CompiledApi, JsonValue, Route } from '../contract/index.ts';
import { PlatformError } from '../errors.ts';
import type { NamedCollection, PlannedRead, Planner } from '../query/planner.ts';
import type { Exchange } from './answer.ts';
import type { Reader } from './read.ts';
import { createUnpopulatedTest } from './unpopulated.ts';

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

/**
 * Links the compiled routes with the planner and the reader.
 *
 * The planner judges every request first, also those that no route takes: faults of the query answer before those of
 * names, and an unknown collection must take the same way as a hidden one.
 */
export function createItemHandlers(api: CompiledApi, planner: Planner, reader: Reader): ItemHandlers {
  const lists = linkRoutes(api, (route) => route.method === 'GET' && !route.byKey);
  const searches = linkRoutes(api, (route) => route.method === 'SEARCH');
  const reads = linkRoutes(api, (route) => route.method === 'GET' && route.byKey);
  const singletons = new Set(api.collections.filter(({ singleton }) => singleton).map(({ name }) => name));
  const readable = new Map(api.access.map(({ name, collections }) => [name, readableNames(collections)]));

  const isUnpopulated = createUnpopulatedTest(api);

  async function answer({ exchange, collection }: ItemRequest, planned: PlannedRead): Promise<void> {
    if (!planned.plan.many) return reader.singleton(exchange, planned);
    try {
      await reader.list(exchange, planned);
    } catch (error) {
      if (!isUnpopulated(collection, error)) throw error;
      reader.nothing(exchange, planned);
    }
  }

  return {
    async list(request) {
      const planned = planner.list(request.caller, named(request), request.query);
      await answer(request, linked(lists, request, planned));
    },
    async search(request, body) {
      const planned = planner.search(request.caller, named(request), body);
      await answer(request, linked(searches, request, planned));
    },
    async read(request, key) {
      const { caller, collection, query } = request;
      // A singleton has no keys, so there is no such route; who may not read it must not learn even that.
      if (singletons.has(collection) && readable.get(caller.accessClass)?.has(collection)) {
        throw new PlatformError('ROUTE_NOT_FOUND');
      }
      const planned = planner.read(caller, named(request), key, query);
      try {
        await reader.item(request.exchange, linked(reads, request, planned));
      } catch (error) {
        throw isUnpopulated(collection, error) ? new PlatformError('FORBIDDEN') : error;
      }
    },
  };
}

/** System collections have paths of their own; below `/items` their names stand for nothing. */
function named({ collection }: ItemRequest): NamedCollection {
  return { name: collection.startsWith('platform_') ? '' : collection };
}

function linked(names: ReadonlySet<string>, { collection }: ItemRequest, planned: PlannedRead): PlannedRead {
  if (!names.has(collection)) throw new PlatformError('FORBIDDEN');
  return planned;
}

function linkRoutes(api: CompiledApi, wanted: (route: Route) => boolean): ReadonlySet<string> {
  return new Set(api.routes.filter(wanted).map(({ collection }) => collection.name));
}

function readableNames(collections: CompiledApi['access'][number]['collections']): ReadonlySet<string> {
  return new Set(collections.filter(({ read }) => read !== undefined && read.length > 0).map((one) => one.collection));
}
