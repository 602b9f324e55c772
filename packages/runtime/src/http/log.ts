/** The log: JSON lines on the standard output, nothing on the hot path, never a token and never a query string. */
import type { IncomingMessage } from 'node:http';
import type { FastifyServerOptions } from 'fastify';
import type { Environment } from '../environment.ts';
import type { PlatformError } from '../errors.ts';
import { splitTarget } from './target.ts';

/** The part of a logger this server uses. */
export interface Log {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** Settings of the framework's logger. */
export function loggerOptions(environment: Environment): NonNullable<FastifyServerOptions['logger']> {
  if (environment.logLevel === 'silent') return false;
  // The framework's own lines may describe a request: by its method and path, the rest can hold secrets.
  return { level: environment.logLevel, base: null, serializers: { req: describeRequest } };
}

/** Writes the one line of an answer that failed: faults of the service loudly, those of the client for debugging only. */
export function logFailure(log: Log, request: IncomingMessage, error: PlatformError): void {
  if (error.status < 500) {
    log.debug({ ...describeRequest(request), code: error.code }, error.message);
    return;
  }
  const bug = error.code === 'INTERNAL_SERVER_ERROR';
  const details = { ...describeRequest(request), code: error.code, cause: describeCause(error.cause ?? error, bug) };
  if (bug) log.error(details, error.message);
  else log.warn(details, error.message);
}

/** Describes a thrown value by its message, code and cause; with the stack, which only bugs need. */
export function describeCause(thrown: unknown, withStack = false, depth = 0): object {
  if (!(thrown instanceof Error)) return { message: String(thrown) };
  const code = 'code' in thrown ? thrown.code : 'sqlstate' in thrown ? thrown.sqlstate : undefined;
  const details = {
    message: thrown.message,
    ...(code === undefined ? {} : { code: String(code) }),
    ...(withStack ? { stack: thrown.stack } : {}),
  };
  return thrown.cause === undefined || depth === 4
    ? details
    : { ...details, cause: describeCause(thrown.cause, withStack, depth + 1) };
}

function describeRequest({ method = '', url = '' }: Pick<IncomingMessage, 'method' | 'url'>) {
  return { method, path: splitTarget(url).path };
}
