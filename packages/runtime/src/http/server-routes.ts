/** Handlers of the routes below `/server`. Source: API specification, section 13. */
import type { Caller } from '../caller.ts';
import type { Database } from '../database/database.ts';
import type { HostReport } from '../database/host-state.ts';
import type { RequestLimit } from '../environment/request-limits.ts';
import { PlatformError, retryAfterSeconds } from '../errors.ts';
import type { CompiledApi, JsonValue } from '../language/index.ts';
import { systemPlaceOf } from '../system/place.ts';
import { type Answerer, type Exchange, type MediaType, mediaTypes } from './answer.ts';
import { createHealth, type WatchedSchema, worst } from './health.ts';
import { createDocuments, createProjectReader, serverInformation } from './information.ts';

/** Options of the handlers. `patience` is the time in milliseconds that the database may take to answer a probe. */
export interface ServerHandlersOptions {
  readonly api: CompiledApi;
  readonly database: Database;
  readonly watch: WatchedSchema;
  readonly hostState: () => Promise<HostReport>;
  readonly answerer: Answerer;
  readonly patience: number;
  /** Requests that one client may send; null: any number. */
  readonly rateLimit: RequestLimit | null;
  /** DATABASE_READ_ONLY. */
  readonly readOnly: boolean;
  /** True if the server was told to stop. */
  readonly draining: () => boolean;
}

type ServerHandler = (exchange: Exchange, call: { readonly caller: Caller; readonly query: string }) => Promise<void>;

/** Handlers by the facts that they return. */
export interface ServerHandlers {
  readonly ping: ServerHandler;
  readonly info: ServerHandler;
  readonly health: ServerHandler;
  readonly ready: ServerHandler;
  readonly document: ServerHandler;
}

/** Makes the handlers. */
export function createServerHandlers(options: ServerHandlersOptions): ServerHandlers {
  const { api, database, watch, hostState, answerer, patience, rateLimit, readOnly, draining } = options;
  const administrators = new Set(api.access.filter(({ admin }) => admin).map(({ name }) => name));
  const health = createHealth({ database, hostState, watch, patience, readOnly });
  const document = createDocuments(api);
  const readProject = createProjectReader(database, systemPlaceOf(api));

  function sendState(exchange: Exchange, type: MediaType, state: object, good: boolean): void {
    const answer = { type, body: Buffer.from(JSON.stringify(state)) };
    if (good) answerer.send(exchange, { ...answer, status: 200 });
    else answerer.send(exchange, { ...answer, status: 503, headers: ['Retry-After', String(retryAfterSeconds)] });
  }

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
      // Waiting requests concern administrators only: all others are served.
      const state = administrators.has(caller.accessClass)
        ? { status: worst(status, checks.connections.status), checks }
        : { status };
      sendState(exchange, mediaTypes.health, state, status !== 'error');
    },
    async ready(exchange, { caller, query }) {
      const role = readRole(query);
      const { unready, unreadable, checks } = await health();
      const reason = draining() ? 'draining' : role === 'any' ? unreadable : unready;
      const status = reason ?? 'ok';
      const state = administrators.has(caller.accessClass) ? { status, checks } : { status };
      sendState(exchange, mediaTypes.json, state, reason === null);
    },
    async document(exchange, { caller }) {
      const body = await document(caller.accessClass);
      answerer.send(exchange, { status: 200, type: mediaTypes.json, body });
    },
  };
}

/** Requests that a server is to be ready for: `any` means that reading is enough; null means everything. */
function readRole(query: string): 'any' | null {
  const roles = new URLSearchParams(query).getAll('role');
  if (roles.length === 0) return null;
  if (roles.length === 1 && roles[0] === 'any') return 'any';
  throw new PlatformError('INVALID_QUERY', '"role" is "any", or left out.');
}

const pong = Buffer.from('pong');

function jsonBytes(value: JsonValue): Buffer {
  return Buffer.from(JSON.stringify(value));
}
