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

  function run({ exchange }: ItemRequest, planned: PlannedRead): Promise<void> {
    return planned.plan.many ? reader.list(exchange, planned) : reader.singleton(exchange, planned);
  }

  /** A view that cannot be scanned yet is planned again as one without rows: only the database aggregates nothing. */
  async function answer(
    names: ReadonlySet<string>,
    request: ItemRequest,
    plan: (of: NamedCollection) => PlannedRead,
  ): Promise<void> {
    const of = { name: request.collection };
    const planned = linked(names, request, plan(of));
    try {
      await run(request, planned);
    } catch (error) {
      if (!isUnpopulated(of.name, error)) throw error;
      await run(request, plan({ ...of, unpopulated: true }));
    }
  }

  return {
    async list(request) {
      await answer(lists, request, (of) => planner.list(request.caller, of, request.query));
    },
    async search(request, body) {
      await answer(searches, request, (of) => planner.search(request.caller, of, body));
    },
    async read(request, key) {
      const { caller, collection, query } = request;
      // A singleton has no keys, so there is no such route; who may not read it must not learn even that.
      if (singletons.has(collection) && readable.get(caller.accessClass)?.has(collection)) {
        throw new PlatformError('ROUTE_NOT_FOUND');
      }
      const planned = planner.read(caller, { name: collection }, key, query);
      try {
        await reader.item(request.exchange, linked(reads, request, planned));
      } catch (error) {
        throw isUnpopulated(collection, error) ? new PlatformError('FORBIDDEN') : error;
      }
    },
  };
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
