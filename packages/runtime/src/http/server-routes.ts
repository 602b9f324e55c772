/** Handlers of the routes below `/server`. Source: API specification, section 13. */
import type { Caller } from '../caller.ts';
import type { CompiledApi, JsonValue } from '../contract/index.ts';
import type { Database } from '../database/database.ts';
import type { DriftWatch } from '../drift-watch.ts';
import type { RequestLimit } from '../environment/request-limits.ts';
import { retryAfterSeconds } from '../errors.ts';
import { systemPlaceOf } from '../system/place.ts';
import { type Answerer, type Exchange, mediaTypes } from './answer.ts';
import { createHealth } from './health.ts';
import { createDocuments, createProjectReader, serverInformation } from './information.ts';

/** What the handlers need. `patience` is how many milliseconds the database may take to prove that it is there. */
export interface ServerHandlersOptions {
  readonly api: CompiledApi;
  readonly database: Database;
  readonly watch: Pick<DriftWatch, 'drifts' | 'checked'>;
  readonly answerer: Answerer;
  readonly patience: number;
  /** Requests that one client may send; null: any number. */
  readonly rateLimit: RequestLimit | null;
}

type ServerHandler = (exchange: Exchange, call: { readonly caller: Caller }) => Promise<void>;

/** Handlers by what they tell. */
export interface ServerHandlers {
  readonly ping: ServerHandler;
  readonly info: ServerHandler;
  readonly health: ServerHandler;
  readonly document: ServerHandler;
}

/** Makes the handlers. */
export function createServerHandlers(options: ServerHandlersOptions): ServerHandlers {
  const { api, database, watch, answerer, patience, rateLimit } = options;
  const administrators = new Set(api.access.filter(({ admin }) => admin).map(({ name }) => name));
  const health = createHealth(database, watch, patience);
  const document = createDocuments(api);
  const readProject = createProjectReader(database, systemPlaceOf(api));

  return {
    async ping(exchange) {
      answerer.send(exchange, { status: 200, type: mediaTypes.text, body: pong });
    },
    async info(exchange, { caller }) {
      const body = jsonBytes(serverInformation(await readProject(), administrators.has(caller.accessClass), rateLimit));
      answerer.send(exchange, { status: 200, type: mediaTypes.json, body });
    },
    async health(exchange, { caller }) {
      const { status, checks } = await health();
      const body = Buffer.from(
        JSON.stringify(administrators.has(caller.accessClass) ? { status, checks } : { status }),
      );
      const answer = { type: mediaTypes.health, body };
      if (status === 'ok') answerer.send(exchange, { ...answer, status: 200 });
      else answerer.send(exchange, { ...answer, status: 503, headers: ['Retry-After', String(retryAfterSeconds)] });
    },
    async document(exchange, { caller }) {
      const body = await document(caller.accessClass);
      answerer.send(exchange, { status: 200, type: mediaTypes.json, body });
    },
  };
}

const pong = Buffer.from('pong');

function jsonBytes(value: JsonValue): Buffer {
  return Buffer.from(JSON.stringify(value));
}
