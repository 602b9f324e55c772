/** The routes below `/items`: from a path to a planned read of one collection, or to a write. Source: specification, section 4. */

import type { IncomingMessage } from 'node:http';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { CompiledApi, JsonValue, Route } from '../language/index.ts';
import type { NamedCollection, PlannedRead, Planner } from '../query/planner.ts';
import { createPopulationTest } from '../query/unpopulated.ts';
import { readIdempotencyKey } from '../write/execute/idempotency.ts';
import type { RequestOrigin } from '../write/execute/running.ts';
import type { WriteRequest } from '../write/write-plan.ts';
import type { Writer } from '../write/writer.ts';
import { type HttpContext, jsonAnswer, type Responder } from './responses/answer.ts';
import type { Reader } from './responses/read.ts';

/** One request below `/items`. */
export interface ItemRequest {
  readonly httpContext: HttpContext;
  readonly caller: Caller;
  readonly collection: string;
  readonly query: string;
}

/** Handlers of the routes below `/items`. They reject with the error that answers the request. */
export interface ItemHandlers {
  list(request: ItemRequest): Promise<void>;
  search(request: ItemRequest, body: JsonValue | undefined): Promise<void>;
  read(request: ItemRequest, key: string): Promise<void>;
  create(request: ItemRequest, body: JsonValue | undefined): Promise<void>;
  update(request: ItemRequest, body: JsonValue | undefined): Promise<void>;
  updateOne(request: ItemRequest, key: string, body: JsonValue | undefined): Promise<void>;
  delete(request: ItemRequest, body: JsonValue | undefined): Promise<void>;
  deleteOne(request: ItemRequest, key: string): Promise<void>;
}

/** Options of the route handlers. */
export interface ItemHandlersOptions {
  readonly api: CompiledApi;
  readonly planner: Planner;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly responder: Responder;
  /** Where a request came from. */
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
}

/**
 * Links the compiled routes with the planner and the reader, and with the writer.
 *
 * The planner checks every request first, also those without a route. Faults of the query answer before those of names,
 * and an unknown collection must take the same way as a hidden one.
 */
export function createItemHandlers(options: ItemHandlersOptions): ItemHandlers {
  const { api, planner, reader, writer, responder, senderOf } = options;
  const lists = linkRoutes(api, (route) => route.method === 'GET' && !route.byKey);
  const searches = linkRoutes(api, (route) => route.method === 'SEARCH');
  const reads = linkRoutes(api, (route) => route.method === 'GET' && route.byKey);
  const singletons = new Set(api.collections.filter(({ singleton }) => singleton).map(({ name }) => name));
  const readable = new Map(api.access.map(({ name, collections }) => [name, readableNames(collections)]));

  const isPopulationError = createPopulationTest(api);
  const written = writtenNames(api);

  /**
   * A singleton has no keys, so there is no such route; a caller without permission to read it must not learn even
   * that.
   */
  function refuseSingleton({ caller, collection }: ItemRequest): void {
    if (singletons.has(collection) && readable.get(caller.accessClass)?.has(collection)) {
      throw new PlatformError('ROUTE_NOT_FOUND');
    }
  }

  /**
   * Builds the request for the writer. A collection without such a route, or hidden from the caller, becomes an unknown
   * one.
   */
  function requested(request: ItemRequest, name: WrittenRoute): WriteRequest {
    const { caller, query, collection, httpContext } = request;
    const allowed = written[name].has(collection) ? collection : '';
    return { caller, query, collection: allowed, sender: senderOf(httpContext.request) };
  }

  /** Request by key: with the entity tags that the item may have. */
  function guarded(request: ItemRequest, name: WrittenRoute): WriteRequest {
    const { 'if-match': ifMatch } = request.httpContext.request.headers;
    return { ...requested(request, name), ...(ifMatch !== undefined && { ifMatch }) };
  }

  function send({ httpContext }: ItemRequest, body: Buffer | null): void {
    responder.send(httpContext, jsonAnswer(body === null ? 204 : 200, body));
  }

  function run({ httpContext }: ItemRequest, planned: PlannedRead): Promise<void> {
    return planned.plan.many ? reader.list(httpContext, planned) : reader.singleton(httpContext, planned);
  }

  /** A view that cannot be scanned yet is planned again as one without rows: only the database aggregates nothing. */
  async function respond(
    names: ReadonlySet<string>,
    request: ItemRequest,
    plan: (collection: NamedCollection) => PlannedRead,
  ): Promise<void> {
    const collection = { name: request.collection };
    const planned = linked(names, request, plan(collection));
    try {
      await run(request, planned);
    } catch (error) {
      if (!isPopulationError(collection.name, error)) throw error;
      await run(request, plan({ ...collection, notPopulated: true }));
    }
  }

  return {
    async list(request) {
      await respond(lists, request, (collection) => planner.list(request.caller, collection, request.query));
    },
    async search(request, body) {
      await respond(searches, request, (link) => planner.search(request.caller, link, body));
    },
    async read(request, key) {
      const { caller, collection, query } = request;
      refuseSingleton(request);
      const planned = planner.read(caller, { name: collection }, key, query);
      try {
        await reader.item(request.httpContext, linked(reads, request, planned));
      } catch (error) {
        throw isPopulationError(collection, error) ? new PlatformError('FORBIDDEN') : error;
      }
    },
    async create(request, body) {
      refuseSingleton(request);
      const key = readIdempotencyKey(request.httpContext.request.headers['idempotency-key']);
      const { status, body: bytes } = await writer.create(
        { ...requested(request, 'create'), ...(key && { key }) },
        body,
      );
      responder.send(request.httpContext, jsonAnswer(status, bytes));
    },
    async update(request, body) {
      const requestedItem = requested(request, 'update');
      const singleton = singletons.has(requestedItem.collection);
      send(
        request,
        await (singleton ? writer.updateSingleton(requestedItem, body) : writer.update(requestedItem, body)),
      );
    },
    async updateOne(request, key, body) {
      refuseSingleton(request);
      send(request, await writer.updateOne(guarded(request, 'updateOne'), key, body));
    },
    async delete(request, body) {
      refuseSingleton(request);
      send(request, await writer.delete(requested(request, 'delete'), body));
    },
    async deleteOne(request, key) {
      refuseSingleton(request);
      send(request, await writer.deleteOne(guarded(request, 'deleteOne'), key));
    },
  };
}

type WrittenRoute = 'create' | 'update' | 'updateOne' | 'delete' | 'deleteOne';

function writtenNames(api: CompiledApi): Readonly<Record<WrittenRoute, ReadonlySet<string>>> {
  const entry = (operation: Route['operation'], byKey: boolean) =>
    linkRoutes(api, (route) => route.operation === operation && route.byKey === byKey);
  return {
    create: entry('create', false),
    update: entry('update', false),
    updateOne: entry('update', true),
    delete: entry('delete', false),
    deleteOne: entry('delete', true),
  };
}

function linked(names: ReadonlySet<string>, { collection }: ItemRequest, planned: PlannedRead): PlannedRead {
  if (!names.has(collection)) throw new PlatformError('FORBIDDEN');
  return planned;
}

function linkRoutes(api: CompiledApi, requested: (route: Route) => boolean): ReadonlySet<string> {
  return new Set(api.routes.filter(requested).map(({ collection }) => collection.name));
}

function readableNames(collections: CompiledApi['access'][number]['collections']): ReadonlySet<string> {
  return new Set(
    collections.filter(({ read }) => read !== undefined && read.length > 0).map((entry) => entry.collection),
  );
}
