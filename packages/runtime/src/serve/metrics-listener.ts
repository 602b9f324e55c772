/** Second listener of a server, for those who watch over it: `/metrics`, `/server/ping` and `/server/ready`. */
import { type Environment, localUrl, readEnvironment, type Variables } from '../environment.ts';
import { PlatformError, retryAfterSeconds, toPlatformError } from '../errors.ts';
import type { Readiness } from '../http/health.ts';
import {
  type Answer,
  createResponder,
  type HttpContext,
  mediaTypes,
  type Responder,
} from '../http/responses/answer.ts';
import type { MetricValues } from '../operate/metrics/measured.ts';
import { acceptsOpenMetrics, printMetrics } from '../operate/metrics/print.ts';
import { splitTarget } from '../query/parse/target.ts';

/** Figures and state of the processes that serve. */
export interface Watched {
  /** Gathers the metrics of all processes that serve together. */
  readonly gather: () => Promise<readonly (readonly MetricValues[])[]>;
  /** Tells if requests should be sent here; with the role `any` it is enough that the server can read. */
  readonly ready: (role: string | undefined) => Promise<Readiness>;
}

/** A listener under way. */
export interface MetricsListener {
  /** Address at which it answers, without a trailing slash. */
  readonly url: string;
  close(): void;
}

/** The address of the metrics cannot be used. */
export class MetricsAddressError extends Error {
  override readonly name = 'MetricsAddressError';
  /** Code of Node for the reason. */
  readonly code: string;

  constructor(cause: Error) {
    super('The address of the metrics cannot be used.', { cause });
    this.code = 'code' in cause ? String(cause.code) : '';
  }
}

/**
 * Listens for the metrics of other processes, where the variables say so; null where they do not, or cannot be used.
 * Rejects with `MetricsAddressError`.
 * @example await serveMetrics(process.env, { gather: async () => [], ready: async () => 'ok' });
 */
export async function serveMetrics(variables: Variables, watched: Watched): Promise<MetricsListener | null> {
  const reading = readEnvironment(variables);
  if (!reading.ok || reading.environment.operate.metrics.port === null) return null;
  return listenForMetrics(reading.environment, createResponder(reading.environment), watched);
}

/** Listens on METRICS_PORT; rejects with `MetricsAddressError`. */
export async function listenForMetrics(
  { operate }: Environment,
  responder: Responder,
  watched: Watched,
): Promise<MetricsListener> {
  const { host } = operate.metrics;
  // An import of the module costs every start a tenth of its work: see `http/failures.ts`.
  const server = process.getBuiltinModule('node:http').createServer((request, response) => {
    void answerWatcher(responder, { request, response }, watched);
  });
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (error) => reject(new MetricsAddressError(error)));
  // Processes of a cluster would share the port otherwise.
  server.listen({ host, port: operate.metrics.port ?? 0, exclusive: true }, resolve);
  await listening;
  return {
    url: localUrl(host, server.address()),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answerWatcher(responder: Responder, httpContext: HttpContext, watched: Watched): Promise<void> {
  const { method, url = '' } = httpContext.request;
  const { path, query } = splitTarget(url);
  try {
    if (!['/metrics', '/server/ping', '/server/ready'].includes(path)) throw new PlatformError('ROUTE_NOT_FOUND');
    if (method !== 'GET' && method !== 'HEAD') {
      throw new PlatformError('METHOD_NOT_ALLOWED', undefined, {}, { headers: { allow: 'GET, HEAD' } });
    }
    if (path === '/server/ping') {
      responder.send(httpContext, { status: 200, type: mediaTypes.text, body: Buffer.from('pong') });
    } else if (path === '/server/ready') {
      const role = new URLSearchParams(query).get('role') ?? undefined;
      responder.send(httpContext, readyAnswer(await watched.ready(role)));
    } else {
      await answerMetrics(responder, httpContext, watched);
    }
  } catch (thrown) {
    responder.fail(httpContext, toPlatformError(thrown));
  }
}

function readyAnswer(status: Readiness): Answer {
  const response = { type: mediaTypes.json, body: Buffer.from(JSON.stringify({ status })) };
  if (status === 'ok') return { ...response, status: 200 };
  return { ...response, status: 503, headers: ['Retry-After', String(retryAfterSeconds)] };
}

export async function answerMetrics(
  responder: Responder,
  httpContext: HttpContext,
  { gather }: Pick<Watched, 'gather'>,
): Promise<void> {
  const { type, text } = await printMetrics(await gather(), acceptsOpenMetrics(httpContext.request.headers.accept));
  responder.send(httpContext, { status: 200, type, body: Buffer.from(text), cache: 'no-store' });
}
