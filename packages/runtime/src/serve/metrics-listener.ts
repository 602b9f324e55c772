/** Second listener of a server, for those who watch over it: `/metrics`, `/server/ping` and `/server/ready`. */
import { createServer } from 'node:http';
import { type Environment, readEnvironment, type Variables } from '../environment.ts';
import { PlatformError, retryAfterSeconds, toPlatformError } from '../errors.ts';
import type { Readiness } from '../http/health.ts';
import { localUrl } from '../http/local-url.ts';
import { type Answer, type Answerer, createAnswerer, type Exchange, mediaTypes } from '../http/responses/answer.ts';
import type { MetricValues } from '../operate/metrics/measured.ts';
import { printMetrics, wantsOpenMetrics } from '../operate/metrics/print.ts';
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
  /** Where it answers, without a trailing slash. */
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
 *
 * ```ts
 * await serveMetrics(process.env, { gather: async () => [], ready: async () => 'ok' });
 * ```
 */
export async function serveMetrics(variables: Variables, watched: Watched): Promise<MetricsListener | null> {
  const reading = readEnvironment(variables);
  if (!reading.ok || reading.environment.operate.metrics.port === null) return null;
  return listenForMetrics(reading.environment, createAnswerer(reading.environment), watched);
}

/** Listens on METRICS_PORT; rejects with `MetricsAddressError`. */
export async function listenForMetrics(
  { operate }: Environment,
  answerer: Answerer,
  watched: Watched,
): Promise<MetricsListener> {
  const { host } = operate.metrics;
  const server = createServer((request, response) => {
    void answerWatcher(answerer, { request, response }, watched);
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

async function answerWatcher(answerer: Answerer, exchange: Exchange, watched: Watched): Promise<void> {
  const { method, url = '' } = exchange.request;
  const { path, query } = splitTarget(url);
  try {
    if (!['/metrics', '/server/ping', '/server/ready'].includes(path)) throw new PlatformError('ROUTE_NOT_FOUND');
    if (method !== 'GET' && method !== 'HEAD') {
      throw new PlatformError('METHOD_NOT_ALLOWED', undefined, {}, { headers: { allow: 'GET, HEAD' } });
    }
    if (path === '/server/ping') {
      answerer.send(exchange, { status: 200, type: mediaTypes.text, body: Buffer.from('pong') });
    } else if (path === '/server/ready') {
      const role = new URLSearchParams(query).get('role') ?? undefined;
      answerer.send(exchange, readyAnswer(await watched.ready(role)));
    } else {
      await answerMetrics(answerer, exchange, watched);
    }
  } catch (thrown) {
    answerer.fail(exchange, toPlatformError(thrown));
  }
}

function readyAnswer(status: Readiness): Answer {
  const answer = { type: mediaTypes.json, body: Buffer.from(JSON.stringify({ status })) };
  if (status === 'ok') return { ...answer, status: 200 };
  return { ...answer, status: 503, headers: ['Retry-After', String(retryAfterSeconds)] };
}

/** Answers a request for metrics. */
export async function answerMetrics(
  answerer: Answerer,
  exchange: Exchange,
  { gather }: Pick<Watched, 'gather'>,
): Promise<void> {
  const { type, text } = await printMetrics(await gather(), wantsOpenMetrics(exchange.request.headers.accept));
  answerer.send(exchange, { status: 200, type, body: Buffer.from(text), cache: 'no-store' });
}
