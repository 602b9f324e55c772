/** Information about the server, and its utilities. Source: API specification, sections 13 and 15. */
import type { Key, RequestOptions } from './call.ts';
import type { JsonObject } from './json.ts';
import type { Requester } from './requester.ts';

/** Health of a server. */
export interface Health extends JsonObject {
  readonly status: 'ok' | 'error';
}

/** The server itself. */
export interface ServerHandler {
  /** `pong`. */
  ping(options?: RequestOptions): Promise<string>;
  info(options?: RequestOptions): Promise<JsonObject>;
  /** Resolves for an unhealthy server too. */
  health(options?: RequestOptions): Promise<Health>;
  /** The OpenAPI document of this caller. */
  oas(options?: RequestOptions): Promise<JsonObject>;
}

/** Makes the handler of the server. */
export function createServerHandler({ send, data }: Requester): ServerHandler {
  return {
    ping: async (options) =>
      (await send({ method: 'GET', path: ['server', 'ping'], options, isAnonymous: true })).text(),
    info: (options) => data({ method: 'GET', path: ['server', 'info'], options }),
    health: async (options) =>
      JSON.parse(await (await send({ method: 'GET', path: ['server', 'health'], options, accepts: 503 })).text()),
    oas: async (options) =>
      JSON.parse(await (await send({ method: 'GET', path: ['server', 'specs', 'oas'], options })).text()),
  };
}

/** Utilities. */
export interface UtilsHandler {
  readonly random: { string(length?: number, options?: RequestOptions): Promise<string> };
  readonly hash: {
    generate(text: string, options?: RequestOptions): Promise<string>;
    verify(text: string, hash: string, options?: RequestOptions): Promise<boolean>;
  };
  /** Moves an item to the place of another. */
  sort(collection: string, item: Key, to: Key, options?: RequestOptions): Promise<void>;
  /** Writes back what a revision holds. */
  revert(revision: Key, options?: RequestOptions): Promise<void>;
}

/** Makes the handler of utilities. */
export function createUtilsHandler({ data, nothing }: Requester): UtilsHandler {
  const path = (...names: readonly Key[]): readonly Key[] => ['utils', ...names];
  return {
    random: {
      string: (length = 32, options) =>
        data({ method: 'GET', path: path('random', 'string'), query: { length }, options }),
    },
    hash: {
      generate: (string, options) =>
        data({ method: 'POST', path: path('hash', 'generate'), body: { string }, options }),
      verify: (string, hash, options) =>
        data({ method: 'POST', path: path('hash', 'verify'), body: { string, hash }, options }),
    },
    sort: (collection, item, to, options) =>
      nothing({ method: 'POST', path: path('sort', collection), body: { item, to }, options }),
    revert: (revision, options) => nothing({ method: 'POST', path: path('revert', revision), options }),
  };
}
