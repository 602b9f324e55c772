/** Facts of the request that is being answered: for its line in the log, for metrics, and for lines that it causes. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '../errors.ts';

/** Part of a call that lines and metrics name. */
interface RecordedCall {
  readonly caller: { readonly accessClass: string; readonly user: string | null; readonly administrator?: true };
  readonly item: { readonly collection: string; readonly key: string | null } | null;
}

/** A position in the log of changes of a database, in the history of a cluster. */
export interface LogPosition {
  readonly system: string;
  readonly timeline: number;
  readonly position: string;
}

/** Member of a request that holds its record. */
export const requestRecord: unique symbol = Symbol('request record');

declare module 'node:http' {
  interface IncomingMessage {
    [requestRecord]?: RequestRecord;
  }
}

const noNames: readonly string[] = [];
const unobserved: readonly RequestObserver[] = [];

/** One request under way. */
export class RequestRecord {
  readonly id: string;
  /** Trace that a trusted peer named, or that its span belongs to. */
  traceId: string | undefined;
  readonly startedAt: number;
  /** Null until the token was checked, and for a refused one. */
  call: RecordedCall | null = null;
  /** Collections that a document of GraphQL asks for; none before it is compiled. */
  collections: readonly string[] = noNames;
  /** Pattern of the route that the router found; null on the fast path. */
  route: string | null = null;
  /** Bytes of the body of the answer. */
  bytes = 0;
  /** Milliseconds that its statements took together. */
  databaseMs = 0;
  /** Milliseconds that a transaction waited for its connection; its first statement takes them over. */
  waitedMs = 0;
  /** Position in the log of changes after its writes; null without writes, and without replicas. */
  written: LogPosition | 'latest' | null = null;
  /** Codes of the errors of its answer; null where there is none. */
  errors: readonly ErrorCode[] | null = null;

  /** Status of an answer that was written beside the response, because the request could not be read to its end. */
  brokenStatus: number | undefined;
  /** Observers that its end is told; none once they know. */
  observers: readonly RequestObserver[];
  /** True where its handler ends it. */
  isHandled = false;
  /** True once the end of its response will end it. */
  isFollowed = false;

  constructor(id: string, traceId: string | undefined, startedAt: number, observers = unobserved) {
    this.id = id;
    this.traceId = traceId;
    this.startedAt = startedAt;
    this.observers = observers;
  }
}

/** Tells observers of the end of a request: its answer was handed over whole, or its response is closed. */
export function endRequest(response: ServerResponse<IncomingMessage>): void {
  const record = response.req[requestRecord];
  if (record === undefined || record.observers === unobserved) return;
  const { observers } = record;
  record.observers = unobserved;
  const ms = endTime(record) - record.startedAt;
  for (const observe of observers) observe(record, response, ms);
}

/** Bytes of an answer that takes no time to make. */
const briefBytes = 4096;
const soon = Promise.resolve();
let endedAt = 0;
const forgetEnd = (): void => {
  endedAt = 0;
};

/** Gives brief answers one time that follow each other, as those of one statement do: a clock costs more than counting. */
function endTime({ bytes }: RequestRecord): number {
  if (bytes > briefBytes) {
    const now = performance.now();
    if (endedAt !== 0) endedAt = now;
    return now;
  }
  if (endedAt === 0) {
    void soon.then(forgetEnd);
    endedAt = performance.now();
  }
  return endedAt;
}

/** Ends a request with its response, unless it has ended: a listener costs more than all that is observed. */
export function endWithResponse(response: ServerResponse<IncomingMessage>): void {
  const record = response.req[requestRecord];
  if (record === undefined || record.observers === unobserved || record.isFollowed) return;
  record.isFollowed = true;
  if (response.closed) endRequest(response);
  else response.on('close', endClosed);
}

function endClosed(this: ServerResponse<IncomingMessage>): void {
  endRequest(this);
}

/** Status of the answer; undefined where the client left before it. */
export function statusOf({ brokenStatus }: RequestRecord, response: ServerResponse): number | undefined {
  return brokenStatus ?? (response.headersSent ? response.statusCode : undefined);
}

/** Gets an answered request with its record; `ms` is how long it took. */
export type RequestObserver = (record: RequestRecord, response: ServerResponse<IncomingMessage>, ms: number) => void;

const records = new AsyncLocalStorage<RequestRecord>();

/** Runs a function whose statements and lines belong to a request. */
function runWithin(
  record: RequestRecord,
  run: (request: IncomingMessage, response: ServerResponse) => void,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  records.run(record, run, request, response);
}

/** Runs a function that belongs to a request which has begun before. */
export function continueWithin<T, R>(record: RequestRecord, run: (argument: T) => R, argument: T): R {
  return records.run(record, run, argument);
}

/** Runs a function that goes on for longer than the request that has begun it. */
export function continueOutside(run: () => Promise<void>): void {
  void records.exit(run);
}

/** The record of the request that the running code belongs to; undefined outside of requests. */
export function currentRecord(): RequestRecord | undefined {
  return records.getStore();
}

/** Milliseconds as lines have them. */
export function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** Passes a request on to the code that answers it. */
export type PassRequest = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Makes the listener of a server. Without observers the request only gets its identifier; `isFollowed` makes it known to
 * what runs for it.
 */
export function beginRequests(
  readIds: (request: IncomingMessage) => RequestIds,
  observers: readonly RequestObserver[],
  isFollowed: boolean,
  pass: PassRequest,
): PassRequest {
  if (observers.length === 0) {
    return function beginUnobserved(request, response) {
      const { id, traceId } = readIds(request);
      const record = new RequestRecord(id, traceId, 0);
      request[requestRecord] = record;
      if (isFollowed) runWithin(record, pass, request, response);
      else pass(request, response);
    };
  }

  let arrivedAt = 0;
  const endTurn = (): void => {
    arrivedAt = 0;
  };
  /** Gives requests of one turn of the event loop one time, because they have arrived together. */
  function arrivalTime(): number {
    if (arrivedAt === 0) {
      arrivedAt = performance.now();
      setImmediate(endTurn);
    }
    return arrivedAt;
  }

  return function beginRequest(request, response) {
    const { id, traceId } = readIds(request);
    const record = new RequestRecord(id, traceId, arrivalTime(), observers);
    request[requestRecord] = record;
    runWithin(record, pass, request, response);
    if (!record.isHandled) endWithResponse(response);
  };
}

/** The pattern; undefined if there is no such route. Requests on the fast path have met no router. */
export function routePattern(record: RequestRecord, { url = '' }: IncomingMessage): string | undefined {
  if (record.route !== null) return record.route === '' ? undefined : record.route;
  if (record.call?.item) return record.call.item.key === null ? itemRoutes.many : itemRoutes.byKey;
  const path = pathOf(url);
  if (path === '/graphql' || path === '/graphql/system') return path;
  // The token of such a request was refused before its path was read.
  return path.startsWith('/items/') ? itemRoutes[path.indexOf('/', 7) === -1 ? 'many' : 'byKey'] : undefined;
}

/** Methods that labels and spans name; OpenTelemetry calls all others `_OTHER`. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'SEARCH']);

/** The method of a request, as metrics and spans name it. */
export function requestMethod({ method = '' }: Pick<IncomingMessage, 'method'>): string {
  return methods.has(method) ? method : '_OTHER';
}

const itemRoutes = { many: '/items/:collection', byKey: '/items/:collection/:key' } as const;

/** The path of an address, without its query. */
export function pathOf(url: string): string {
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  const fragment = path.indexOf('#');
  return fragment === -1 ? path : path.slice(0, fragment);
}

interface RequestIds {
  readonly id: string;
  /** Trace of a trusted peer. */
  readonly traceId: string | undefined;
}

/** Characters of an identifier, of 6 random bits each. */
const idLength = 16;
let drawn = '';
let position = 0;

/** Makes an identifier that no other request has. Random characters are drawn for 256 at once. */
export function newRequestId(): string {
  if (position === drawn.length) {
    drawn = randomBytes((256 * idLength * 6) / 8).toString('base64url');
    position = 0;
  }
  const start = position;
  position += idLength;
  return drawn.slice(start, position);
}

/** Form of an identifier that is kept. */
const keptId = /^[A-Za-z0-9._-]{8,128}$/;

/** Version, trace, parent and flags (W3C Trace Context); zeros alone name neither. */
const traceparent = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?![0-9a-f])/;

/** Reads the place in a trace that a client names; undefined for another header. */
export function readTraceparent(header: string | readonly string[] | undefined) {
  const [, traceId, spanId, flags] = (typeof header === 'string' && traceparent.exec(header)) || [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}

/** Makes the reader of identifiers. Those of peers for which `isTrusted` is true are kept. */
export function createRequestIds(
  isTrusted: ((request: IncomingMessage) => boolean) | null,
): (request: IncomingMessage) => RequestIds {
  if (isTrusted === null) return () => ({ id: newRequestId(), traceId: undefined });
  return function readRequestIds(request) {
    const { 'x-request-id': id, traceparent: trace } = request.headers;
    const isNamed = id !== undefined || trace !== undefined;
    if (!isNamed || !isTrusted(request)) return { id: newRequestId(), traceId: undefined };
    return {
      id: typeof id === 'string' && keptId.test(id) ? id : newRequestId(),
      traceId: readTraceparent(trace)?.traceId,
    };
  };
}
