/**
 * The one way an answer leaves the server: every status, every body, every error goes through here. So the header set
 * of the API specification, section 1.2, is on all of them.
 *
 * Answers are written to the socket directly. Fastify's reply would rebuild a header object and walk the send hooks for
 * bytes that are final already.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadClient, Statement } from '../../database/database.ts';
import { subnetOf } from '../../environment/networks.ts';
import type { Environment } from '../../environment.ts';
import { errorBody, type PlatformError } from '../../errors.ts';
import { giveBack } from '../../json/byte-writer.ts';
import { type ClientBytes, tooMuchUnsent, UnsentBytes } from '../../limits/unsent.ts';
import { createClientAddress, type FindClientAddress } from '../../operate/client-address.ts';
import { endRequest, newRequestId, requestRecord } from '../../operate/request-record.ts';
import { pagePaths } from '../../pages/pages.ts';
import { liesUnder, splitTarget } from '../../query/parse/target.ts';
import type { Consistency } from '../consistency.ts';
import { corsHeaders } from './cors.ts';
import { chooseEncoding, compress, type Encoding, Outgoing, smallestCompressed } from './outgoing.ts';

export const mediaTypes = {
  json: 'application/json; charset=utf-8',
  graphql: 'application/graphql-response+json; charset=utf-8',
  sdl: 'application/graphql; charset=utf-8',
  health: 'application/health+json; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  xml: 'text/xml; charset=utf-8',
  yaml: 'text/yaml; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  script: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
} as const;

export type MediaType = (typeof mediaTypes)[keyof typeof mediaTypes];

/** Headers of an answer, apart from those that every answer has. */
export interface AnswerHeaders {
  /** Headers of its own, as a flat list of names and values. */
  readonly headers?: readonly string[];
  /** Allowed sources and actions of a page, as a Content-Security-Policy; no header when absent. */
  readonly policy?: string;
  /** Cache-Control of the answer; when absent, the default of its address. */
  readonly cache?: string;
  /** Vary of the answer; when absent, what every answer depends on. */
  readonly vary?: string;
  /** True for an answer that others than its client get: it tells nothing of the request, and has an identifier of ours. */
  readonly isShared?: true;
}

/** The type of an answer with a body, and its headers. */
export interface Content extends AnswerHeaders {
  /** One of `mediaTypes`, or the type of a file. */
  readonly type: string;
}

/** An answer whose bytes are all there. */
export interface Answer extends Content {
  readonly status: number;
  readonly body: Buffer;
}

/** An answer without a body. It names no content type: clients read a body where a type is named. */
export interface EmptyAnswer extends AnswerHeaders {
  readonly status: number;
}

/** An answer in JSON; an empty one where there is nothing to tell. */
export function jsonAnswer(status: number, body: Buffer | null): Answer | EmptyAnswer {
  return body === null ? { status } : { status, type: mediaTypes.json, body };
}

/** The exchange of one request for one answer, as Node's server hands it over. */
export interface HttpContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Writes answers with the headers that one environment asks for. */
export interface Responder {
  /** Sends a whole answer; compressed when the client accepts it and it is not small. Never throws. */
  send(httpContext: HttpContext, response: Answer | EmptyAnswer): void;
  /** Sends the body of section 9 for an error, with the headers of the error and those given. */
  fail(httpContext: HttpContext, error: PlatformError, headers?: readonly string[]): void;
  /** The headers of a successful answer whose length is unknown yet. */
  streamHeaders(request: IncomingMessage, encoding: Encoding | null, content: Content): string[];
  /** From here on every answer is the last one of its connection, so that a server that stops comes to its end. */
  hangUp(): void;
}

/** Also writes answers in parts, and counts the bytes that wait for clients. */
export interface StreamingResponder extends Responder {
  /** Sends a body of unknown length; the head was written with `streamHeaders`. */
  outgoing(httpContext: HttpContext, out: Writable): Outgoing;
  /** Sends a content as fast as its reader takes it; cut where that one takes nothing for STREAM_STALL_TIMEOUT. */
  pipe(response: ServerResponse, content: Readable): Promise<void>;
  /** The statement for a replica, where one may answer the request; else the same statement. */
  late(request: IncomingMessage, statement: Statement): Statement;
  /** False where there are replicas, and no server that takes writes is known. */
  hasPrimary(): boolean;
  unsentOf(request: IncomingMessage): ClientBytes;
  clientOf(request: IncomingMessage): ReadClient;
}

/** Headers that all answers of one kind have, before the identifier of their request and after it. */
export interface StandingHeaders {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Set where later answers have this object, too. */
  readonly repeats?: true;
}

/** Headers of one answer in their order. */
export interface Head {
  readonly standing: StandingHeaders;
  readonly id: string;
  readonly others: string[];
}

/** Writes the head of an answer whose bytes are all there. */
export type WriteHead = (response: ServerResponse, status: number, head: Head) => void;

const writePlainHead: WriteHead = (response, status, head) => void response.writeHead(status, listHeaders(head));

/** The headers as a flat list of names and values. */
export function listHeaders({ standing: { before, after }, id, others }: Head): string[] {
  return [...before, 'X-Request-Id', id, ...after, ...others];
}

export function createResponder(
  environment: Environment,
  consistency: Consistency | null = null,
  writeHead = writePlainHead,
): StreamingResponder {
  const answering = new Answering(environment, consistency, writeHead);
  return {
    send: (httpContext, response) => answering.send(httpContext, response),
    fail: (httpContext, error, headers) => answering.fail(httpContext, error, headers),
    streamHeaders: (request, encoding, content) => answering.streamHeaders(request, encoding, content),
    outgoing: (httpContext, out) => answering.outgoing(httpContext, out),
    pipe: (response, content) => pipe(response, content, environment.streams.stallTimeout),
    unsentOf: (request) => answering.unsentOf(request),
    clientOf: (request) => new RequestClient(answering, request),
    hangUp() {
      answering.hangingUp = true;
    },
    late: (request, statement) => (consistency === null ? statement : consistency.late(request, statement)),
    hasPrimary: () => consistency?.hasPrimary() !== false,
  };
}

class RequestClient implements ReadClient {
  readonly #answering: Answering;
  readonly #request: IncomingMessage;

  constructor(answering: Answering, request: IncomingMessage) {
    this.#answering = answering;
    this.#request = request;
  }

  get address(): string {
    return this.#answering.unsentOf(this.#request).client;
  }

  get isGone(): boolean {
    return this.#request.socket.destroyed;
  }
}

/** Writes answers for one environment. */
class Answering {
  hangingUp = false;
  readonly #environment: Environment;
  readonly #consistency: Consistency | null;
  readonly #base: readonly string[];
  readonly #usual: ReadonlyMap<string, UsualHeaders>;
  readonly #unsent: UnsentBytes;
  readonly #clientAddress: FindClientAddress;
  readonly #writeHead: WriteHead;

  constructor(environment: Environment, consistency: Consistency | null, writeHead: WriteHead) {
    const { streams, database, auth } = environment;
    this.#environment = environment;
    this.#consistency = consistency;
    this.#writeHead = writeHead;
    this.#base = standingHeaders(environment, "default-src 'none'; frame-ancestors 'none'");
    this.#usual = usualHeaders(this.#base);
    this.#unsent = new UnsentBytes({ maxCount: streams.bufferMax, timeoutMs: database.poolTimeout });
    this.#clientAddress = createClientAddress(auth.trustedProxies);
  }

  unsentOf(request: IncomingMessage): ClientBytes {
    return this.#unsent.of(subnetOf(this.#clientAddress(request)));
  }

  outgoing({ request, response }: HttpContext, out: Writable): Outgoing {
    const { [requestRecord]: record } = request;
    const { stallTimeout: stallMs } = this.#environment.streams;
    return new Outgoing({ response, out, unsent: this.unsentOf(request), stallMs, record });
  }

  send(httpContext: HttpContext, result: Answer | EmptyAnswer): void {
    const compressible = 'body' in result && result.body.length >= smallestCompressed;
    const head = this.#headFor(httpContext.request, result, compressible);
    if (!('body' in result)) {
      writeEmpty(httpContext.response, result.status, head);
      return;
    }
    const encoding = compressible ? chooseEncoding(httpContext.request.headers['accept-encoding']) : null;
    if (encoding === null) this.#write(httpContext, result.status, head, result.body);
    else void this.#sendCompressed(httpContext, result, head, encoding);
  }

  fail(httpContext: HttpContext, error: PlatformError, headers: readonly string[] = []): void {
    const caller = httpContext.request[requestRecord]?.call?.caller;
    const body = Buffer.from(errorBody([error, ...error.others], caller?.administrator));
    const all = [...Object.entries(error.headers).flat(), ...headers];
    this.send(httpContext, { status: error.status, type: mediaTypes.json, body, headers: all });
  }

  streamHeaders(request: IncomingMessage, encoding: Encoding | null, content: Content): string[] {
    const headers = listHeaders(this.#headFor(request, content, true));
    if (encoding !== null) headers.push('Content-Encoding', encoding);
    return headers;
  }

  #headFor(request: IncomingMessage, about: Content | EmptyAnswer, compressible: boolean): Head {
    const { isShared, headers: ownHeaders } = about;
    const { cors } = this.#environment;
    const { id = newRequestId() } = request[requestRecord] ?? {};
    const isSent = isShared === true && id === request.headers['x-request-id'];
    const others: string[] = this.hangingUp ? ['Connection', 'close'] : [];
    if (this.#consistency !== null) others.push(...this.#consistency.headers(request));
    if (cors !== null) others.push(...corsHeaders(cors, request.headers.origin));
    if (ownHeaders !== undefined) others.push(...ownHeaders);
    const standing = this.#standingFor(request.url ?? '/', about, compressible);
    return { standing, id: isSent ? newRequestId() : id, others };
  }

  #standingFor(url: string, about: Content | EmptyAnswer, compressible: boolean): StandingHeaders {
    const { policy, cache, vary } = about;
    const type = 'type' in about ? about.type : '';
    const usual = this.#usual.get(type);
    if (usual !== undefined && policy === undefined && cache === undefined && vary === undefined) {
      const kept = isKeptPrivately(url);
      return compressible ? (kept ? usual.compressible : usual.unstored) : kept ? usual.small : usual.smallUnstored;
    }
    const base = policy === undefined ? this.#base : standingHeaders(this.#environment, policy);
    return standingOf(type, base, vary ?? varyOf(compressible), cache ?? cacheControl(isKeptPrivately(url)));
  }

  async #sendCompressed(httpContext: HttpContext, reply: Answer, head: Head, encoding: Encoding) {
    try {
      const body = await compress(encoding, reply.body);
      giveBack(reply.body);
      head.others.push('Content-Encoding', encoding);
      this.#write(httpContext, reply.status, head, body);
    } catch {
      httpContext.response.destroy();
    }
  }

  #write(httpContext: HttpContext, status: number, head: Head, body: Buffer): void {
    const { request, response } = httpContext;
    if (isClosed(response)) return;
    if (body.length > largestAtOnce && !this.unsentOf(request).hasRoom()) {
      giveBack(body);
      this.fail(httpContext, tooMuchUnsent());
      return;
    }
    if (status !== 304 && status !== 204) head.others.push('Content-Length', String(body.length));
    this.#writeHead(response, status, head);
    const record = request[requestRecord];
    if (record !== undefined && body.length <= largestAtOnce) record.bytes = body.length;
    if (body.length > largestAtOnce) this.outgoing(httpContext, response).end(body);
    else if (body.length > largestCopied) this.#writeAtOnce(httpContext, body);
    else {
      // As text, byte for byte: Node joins it to the head, and the memory is free for the next answer at once.
      response.end(body.toString('latin1'), 'latin1');
      endRequest(response);
      giveBack(body);
    }
  }

  #writeAtOnce({ request, response }: HttpContext, body: Buffer): void {
    const bytes = this.unsentOf(request);
    bytes.add(body.length);
    const record = request[requestRecord];
    if (record !== undefined) record.isFollowed = true;
    response.once('close', () => {
      bytes.add(-body.length);
      endRequest(response);
    });
    response.end(body, () => giveBack(body));
  }
}

/** Bytes that wait for their source are no fault of the reader. */
async function pipe(response: ServerResponse, content: Readable, stallMs: number): Promise<void> {
  const look = (): void => void (response.writableLength > 0 ? response.destroy() : timer.refresh());
  const timer = setTimeout(look, stallMs).unref();
  content.on('data', () => timer.refresh());
  try {
    await pipeline(content, response);
  } finally {
    clearTimeout(timer);
  }
}

/** A 204 or 304 ends with its head, so it states no length either (RFC 9110, section 8.6). */
function writeEmpty(response: ServerResponse, status: number, head: Head): void {
  if (isClosed(response)) return;
  if (status !== 304 && status !== 204) head.others.push('Content-Length', '0');
  writePlainHead(response, status, head);
  response.end();
  endRequest(response);
}

/** True if the client is gone, or a stopped server has ended the connection: no answer can be sent. */
function isClosed(response: ServerResponse): boolean {
  return response.destroyed || response.headersSent;
}

/** Bytes up to which copying a body costs less than waiting until it has been sent. */
const largestCopied = 4_096;

/** Bytes up to which an answer is sent even if too many wait already; usual requests stay below. */
export const largestAtOnce = 65_536;

function standingHeaders(environment: Environment, policy: string): readonly string[] {
  const headers = [
    'X-Content-Type-Options',
    'nosniff',
    'Content-Security-Policy',
    policy,
    'Referrer-Policy',
    'no-referrer',
  ];
  return environment.publicUrl?.startsWith('https:') === true
    ? [...headers, 'Strict-Transport-Security', 'max-age=31536000']
    : headers;
}

/** The headers of answers of one type, by what else decides about them. */
type UsualHeaders = Readonly<Record<'small' | 'smallUnstored' | 'compressible' | 'unstored', StandingHeaders>>;

/** Those of all types that are ours; a type that a file was sent with may be any text. */
function usualHeaders(base: readonly string[]): ReadonlyMap<string, UsualHeaders> {
  return new Map(
    ['', ...Object.values(mediaTypes)].map((type) => {
      const headersOf = (compressible: boolean, kept: boolean): StandingHeaders => ({
        ...standingOf(type, base, varyOf(compressible), cacheControl(kept)),
        repeats: true,
      });
      const whole = { compressible: headersOf(true, true), unstored: headersOf(true, false) };
      return [type, { ...whole, small: headersOf(false, true), smallUnstored: headersOf(false, false) }];
    }),
  );
}

function standingOf(type: string, base: readonly string[], vary: string, cache: string): StandingHeaders {
  const before = type === '' ? base : ['Content-Type', type, ...base];
  return { before, after: ['Vary', vary, 'Cache-Control', cache] };
}

function varyOf(compressible: boolean): string {
  return compressible ? 'Origin, Accept-Encoding' : 'Origin';
}

function cacheControl(isKept: boolean): string {
  return isKept ? 'private, no-cache' : 'no-store';
}

/** True if the cache of a client may keep the answer of an address. */
function isKeptPrivately(url: string): boolean {
  // Nearly every request takes the first way out.
  if (url.startsWith('/items/') || url === '/graphql') return true;
  const { path } = splitTarget(url);
  return !unstored.some((route) => liesUnder(path, route));
}

/** Paths below which nothing is stored; the pages that mails lead to are asked for with tokens in their addresses. */
const unstored = ['/auth', '/users', '/utils', '/graphql/system', ...pagePaths];
