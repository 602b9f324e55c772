/** The addresses of a server, and their handlers. */
import type { IncomingMessage } from 'node:http';
import { PlatformError } from '../errors.ts';
import { type CompiledApi, type JsonValue, systemCollection } from '../language/index.ts';
import type { Log } from '../operate/log.ts';
import type { Call, CallReader } from './call.ts';
import type { CustomEndpoint } from './custom-routes.ts';
import type { ItemHandlers, ItemRequest, OwnUserHandlers } from './items.ts';
import { createPageEndpoints, type PageEndpointsOptions } from './pages/page-endpoints.ts';
import type { HttpContext, Responder } from './responses/answer.ts';

/** Answers one request; a rejection becomes the error that is sent. */
export type Handler = (httpContext: HttpContext, call: Call, body: JsonValue | undefined) => Promise<void>;

export type Method = 'GET' | 'SEARCH' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One address with its handlers. */
export interface Endpoint {
  readonly url: string;
  /** By method; GET serves HEAD too, and every endpoint answers OPTIONS. */
  readonly handlers: ReadonlyMap<Method, Handler>;
  /** True if the body of a POST may be a form; the handler gets its text. */
  readonly takesForms?: boolean;
  /** True if bodies may be multipart/form-data; the handler reads them from the request. */
  readonly takesParts?: boolean;
}

/** Parts of a server that answer requests once these are read. */
export interface ServerParts {
  readonly readCall: CallReader;
  readonly endpoints: readonly Endpoint[];
  readonly responder: Responder;
}

/** Answers some requests in the place of the web framework, with all of its checks. */
export interface Shortcut {
  takes(request: IncomingMessage): boolean;
  /** Never rejects. */
  respond(httpContext: HttpContext): Promise<void>;
}

/** Makes the shortcut of a server; `maxBytes` is the length of the longest body. */
export type CreateShortcut = (parts: ServerParts & { readonly log: Log; readonly maxBytes: number }) => Shortcut;

/** The addresses of the platform itself; `users` null: there are none. */
export function endpointsOf(api: CompiledApi, items: ItemHandlers, users: OwnUserHandlers | null): readonly Endpoint[] {
  return [
    ...itemEndpoints('/items/:collection', items),
    ...ownItemEndpoints(api, items),
    ...(users === null ? [] : ownUserEndpoints(users)),
  ];
}

/** Endpoints of the platform's own collections, if any role has a route there: their existence is no secret. */
function ownItemEndpoints(api: CompiledApi, items: ItemHandlers): readonly Endpoint[] {
  const routes = api.routes.filter(({ collection }) => collection.system === true);
  return [...Map.groupBy(routes, ({ collection }) => collection.name)].flatMap(([name, sameCollection]) => {
    const path = systemCollection(name)?.path;
    if (path === undefined) return [];
    return itemEndpoints(path, items).flatMap(({ url, handlers }): Endpoint[] => {
      const byKey = url !== path;
      const linked = [...handlers].filter(([method]) =>
        sameCollection.some((route) => route.method === method && route.byKey === byKey),
      );
      return linked.length === 0 ? [] : [{ url, handlers: new Map(linked) }];
    });
  });
}

function ownUserEndpoints(users: OwnUserHandlers): readonly Endpoint[] {
  return [
    {
      url: '/users/me',
      handlers: new Map<Method, Handler>([
        ['GET', (httpContext, call) => users.read(itemRequest(httpContext, call))],
        ['PATCH', (httpContext, call, body) => users.update(itemRequest(httpContext, call), body)],
      ]),
    },
  ];
}

function itemEndpoints(path: string, items: ItemHandlers): readonly Endpoint[] {
  return [
    {
      url: path,
      handlers: new Map<Method, Handler>([
        ['GET', (httpContext, call) => readItems(items, httpContext, call)],
        ['SEARCH', (httpContext, call, body) => items.search(itemRequest(httpContext, call), body)],
        ['POST', (httpContext, call, body) => items.create(itemRequest(httpContext, call), body)],
        ['PATCH', (httpContext, call, body) => items.update(itemRequest(httpContext, call), body)],
        ['DELETE', (httpContext, call, body) => items.delete(itemRequest(httpContext, call), body)],
      ]),
    },
    {
      url: `${path}/:key`,
      handlers: new Map<Method, Handler>([
        ['GET', (httpContext, call) => readItems(items, httpContext, call)],
        ['PATCH', (httpContext, call, body) => items.updateOne(itemRequest(httpContext, call), keyOf(call), body)],
        ['DELETE', (httpContext, call) => items.deleteOne(itemRequest(httpContext, call), keyOf(call))],
      ]),
    },
  ];
}

export function pageEndpoints(options: PageEndpointsOptions): readonly Endpoint[] {
  return createPageEndpoints(options).map(({ url, get }): Endpoint => ({ url, handlers: new Map([['GET', get]]) }));
}

/** The routes of the project by their addresses. */
export function groupEndpoints(custom: readonly CustomEndpoint[]): readonly Endpoint[] {
  return [...Map.groupBy(custom, ({ url }) => url)].map(([url, same]) => ({
    url,
    handlers: new Map<Method, Handler>(same.map(({ method, handler }) => [method, handler])),
  }));
}

/** Answers GET below `/items`: one item where the path has a key, else the list. */
function readItems(items: ItemHandlers, httpContext: HttpContext, call: Call): Promise<void> {
  const key = call.item?.key ?? null;
  const request = itemRequest(httpContext, call);
  return key === null ? items.list(request) : items.read(request, key);
}

function itemRequest(httpContext: HttpContext, { caller, query, item }: Call): ItemRequest {
  if (item === null) throw new PlatformError('ROUTE_NOT_FOUND');
  return { httpContext, caller, collection: item.collection, query };
}

function keyOf({ item }: Call): string {
  return item?.key ?? '';
}

/**
 * Takes what was generated as one API. `serve` refuses one that was made for another contract.
 * @example export const api = compiledApi({ contract: 3, dialect, collections, access, routes, fingerprint, model, openapi });
 */
export function compiledApi(api: CompiledApi): CompiledApi {
  return api;
}
