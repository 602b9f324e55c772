/** Information about the server. Source: API specification, sections 13 and 15. */
import type { RequestOptions } from './call.ts';
import type { JsonObject } from './json.ts';
import type { OperationMethods } from './operations.ts';
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
export type UtilsHandler = OperationMethods['utils'];
