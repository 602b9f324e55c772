/** The routes below `/items`: from a path to a planned read of one collection, or to a write. Source: specification, section 4. */
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { CompiledApi, JsonValue, Route } from '../language/index.ts';
import { createPopulationTest, type NamedCollection, type PlannedRead, type Planner } from '../query/planner.ts';
import { readIdempotencyKey } from '../write/execute/idempotency.ts';
import type { RequestOrigin } from '../write/execute/running.ts';
import type { WriteRequest } from '../write/write-plan.ts';
import type { Writer } from '../write/writer.ts';
import { type HttpContext, jsonAnswer, mediaTypes, type Responder } from './responses/answer.ts';
import type { Reader } from './responses/read.ts';

export interface ItemRequest {
  readonly httpContext: HttpContext;
  readonly caller: Caller;
  readonly collection: string;
  readonly query: string;
}

interface ItemHandlersOptions {
  readonly api: CompiledApi;
  readonly planner: Planner;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly responder: Responder;
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
}

/**
 * Handlers of the compiled routes below `/items`. They reject with the error that answers the request.
 *
 * The planner checks every request first, also those without a route. Faults of the query answer before those of names,
 * and an unknown collection must take the same way as a hidden one.
 */
export class ItemHandlers {
  readonly #options: ItemHandlersOptions;
  readonly #lists: ReadonlySet<string>;
  readonly #searches: ReadonlySet<string>;
  readonly #reads: ReadonlySet<string>;
  readonly #singletons: ReadonlySet<string>;
  /** Collections that each access class can read. */
  readonly #readable: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #isPopulationError: ReturnType<typeof createPopulationTest>;
  readonly #written: ReturnType<typeof writtenNames>;

  constructor(options: ItemHandlersOptions) {
    const { api } = options;
    this.#options = options;
    this.#lists = linkRoutes(api, (route) => route.method === 'GET' && !route.byKey);
    this.#searches = linkRoutes(api, (route) => route.method === 'SEARCH');
    this.#reads = linkRoutes(api, (route) => route.method === 'GET' && route.byKey);
    this.#singletons = new Set(api.collections.filter(({ singleton }) => singleton).map(({ name }) => name));
    this.#readable = new Map(api.access.map(({ name, collections }) => [name, readableNames(collections)]));
    this.#isPopulationError = createPopulationTest(api);
    this.#written = writtenNames(api);
  }

  list(request: ItemRequest): Promise<void> {
    const { planner } = this.#options;
    return this.#respond(this.#lists, request, (link) => planner.list(request.caller, link, request.query));
  }

  search(request: ItemRequest, body: JsonValue | undefined): Promise<void> {
    const { planner } = this.#options;
    return this.#respond(this.#searches, request, (link) => planner.search(request.caller, link, body));
  }

  /** A view that cannot be scanned yet is planned again as one without rows: only the database aggregates nothing. */
  async #respond(
    names: ReadonlySet<string>,
    request: ItemRequest,
    plan: (collection: NamedCollection) => PlannedRead,
  ): Promise<void> {
    const collection = { name: request.collection };
    const planned = linked(names, request, plan(collection));
    try {
      await this.#run(request, planned);
    } catch (error) {
      if (!this.#isPopulationError(collection.name, error)) throw error;
      await this.#run(request, plan({ ...collection, notPopulated: true }));
    }
  }

  async read(request: ItemRequest, key: string): Promise<void> {
    const { planner, reader } = this.#options;
    const { caller, collection, query } = request;
    this.#refuseSingleton(request);
    const planned = planner.read(caller, { name: collection }, key, query);
    try {
      await reader.item(request.httpContext, linked(this.#reads, request, planned));
    } catch (error) {
      throw this.#isPopulationError(collection, error) ? new PlatformError('FORBIDDEN') : error;
    }
  }

  async create(request: ItemRequest, body: JsonValue | undefined): Promise<void> {
    const { writer, responder } = this.#options;
    this.#refuseSingleton(request);
    const key = readIdempotencyKey(request.httpContext.request.headers['idempotency-key']);
    const { status, body: bytes } = await writer.create(
      { ...this.#requested(request, 'create'), ...(key && { key }) },
      body,
    );
    responder.send(request.httpContext, jsonAnswer(status, bytes));
  }

  async update(request: ItemRequest, body: JsonValue | undefined): Promise<void> {
    const { writer } = this.#options;
    const requestedItem = this.#guarded(request, 'update');
    const singleton = this.#singletons.has(requestedItem.collection);
    this.#send(
      request,
      await (singleton ? writer.updateSingleton(requestedItem, body) : writer.update(requestedItem, body)),
    );
  }

  async updateOne(request: ItemRequest, key: string, body: JsonValue | undefined): Promise<void> {
    this.#refuseSingleton(request);
    this.#send(request, await this.#options.writer.updateOne(this.#guarded(request, 'updateOne'), key, body));
  }

  async delete(request: ItemRequest, body: JsonValue | undefined): Promise<void> {
    this.#refuseSingleton(request);
    this.#send(request, await this.#options.writer.delete(this.#requested(request, 'delete'), body));
  }

  async deleteOne(request: ItemRequest, key: string): Promise<void> {
    this.#refuseSingleton(request);
    this.#send(request, await this.#options.writer.deleteOne(this.#guarded(request, 'deleteOne'), key));
  }

  /** A singleton has no keys, so no such route; a caller who may not read it must not learn even that. */
  #refuseSingleton({ caller, collection }: ItemRequest): void {
    if (this.#singletons.has(collection) && this.#readable.get(caller.accessClass)?.has(collection)) {
      throw new PlatformError('ROUTE_NOT_FOUND');
    }
  }

  /** Builds the request for the writer. A collection without such a route, or a hidden one, becomes unknown. */
  #requested(request: ItemRequest, name: WrittenRoute): WriteRequest {
    const { caller, query, collection, httpContext } = request;
    const allowed = this.#written[name].has(collection) ? collection : '';
    return { caller, query, collection: allowed, sender: this.#options.senderOf(httpContext.request) };
  }

  /** Request by key or of a singleton: with the entity tags that the item may have. */
  #guarded(request: ItemRequest, name: WrittenRoute): WriteRequest {
    const { 'if-match': ifMatch } = request.httpContext.request.headers;
    return { ...this.#requested(request, name), ...(ifMatch !== undefined && { ifMatch }) };
  }

  #send({ httpContext }: ItemRequest, body: Buffer | null): void {
    this.#options.responder.send(httpContext, jsonAnswer(body === null ? 204 : 200, body));
  }

  #run({ httpContext }: ItemRequest, planned: PlannedRead): Promise<void> {
    const { reader } = this.#options;
    return planned.plan.many ? reader.list(httpContext, planned) : reader.singleton(httpContext, planned);
  }
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

/** Handlers of `/users/me`. They reject with the error that answers the request. */
export type OwnUserHandlers = ReturnType<typeof createOwnUserHandlers>;

interface OwnUserOptions {
  readonly api: CompiledApi;
  readonly items: ItemHandlers;
  readonly responder: Responder;
}

export function createOwnUserHandlers({ api, items, responder }: OwnUserOptions) {
  const readers = new Set(api.access.filter(readsUsers).map(({ name }) => name));
  return {
    async read(request: ItemRequest): Promise<void> {
      const id = userOf(request.caller);
      if (readers.has(request.caller.accessClass)) return items.read(request, id);
      const body = Buffer.from(JSON.stringify({ data: { id } }));
      responder.send(request.httpContext, { status: 200, type: mediaTypes.json, body });
    },
    async update(request: ItemRequest, body: JsonValue | undefined): Promise<void> {
      await items.updateOne(request, userOf(request.caller), body);
    },
  };
}

function readsUsers({ collections }: CompiledApi['access'][number]): boolean {
  return collections.some(({ collection, read }) => collection === 'platform_users' && (read?.length ?? 0) > 0);
}

function userOf({ user }: Caller): string {
  if (user === null) throw new PlatformError('INVALID_CREDENTIALS');
  return user;
}
