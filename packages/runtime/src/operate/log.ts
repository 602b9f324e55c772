/** The log: JSON lines on the standard output, never a token, a query string or a value of a request. */
import type { IncomingMessage } from 'node:http';
import type { FastifyServerOptions } from 'fastify';
import type { Environment } from '../environment.ts';
import { fixedMessage, PlatformError } from '../errors.ts';
import { logLines } from './log-lines.ts';
import { pathOf, requestRecord } from './request-record.ts';

/** The part of a logger this server uses. */
export interface Log {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** True if lines of the level `info` are written. */
export function logsInfo({ logLevel }: Pick<Environment, 'logLevel'>): boolean {
  return logLevel === 'info' || logLevel === 'debug' || logLevel === 'trace';
}

/** Settings of the framework's logger. */
export function loggerOptions(environment: Environment): NonNullable<FastifyServerOptions['logger']> {
  if (environment.logLevel === 'silent') return false;
  // The framework's own lines may describe a request: by its method and path, the rest can hold secrets.
  return { level: environment.logLevel, base: null, serializers: { req: describeRequest }, stream: logLines };
}

/**
 * Writes the one line of an answer that failed: faults of the service loudly, those of the client for debugging only.
 * Texts of errors may name what a client sent, so that only the fixed text of their code is written. The record of the
 * request gets the code.
 */
export function logFailure(log: Log, request: IncomingMessage, error: PlatformError): void {
  const { [requestRecord]: record } = request;
  if (record !== undefined) record.errors = [...(record.errors ?? []), error.code];
  if (error.status < 500) {
    log.debug({ ...describeFailed(request), code: error.code }, fixedMessage(error.code));
    return;
  }
  const bug = error.code === 'INTERNAL_SERVER_ERROR';
  const details = { ...describeFailed(request), code: error.code, cause: describeCause(error.cause ?? error, bug) };
  if (bug) log.error(details, fixedMessage(error.code));
  else log.warn(details, fixedMessage(error.code));
}

/** Describes a thrown value by its message, code and cause; with the stack, which only bugs need. */
export function describeCause(thrown: unknown, withStack = false, depth = 0): object {
  if (!(thrown instanceof Error)) return { message: String(thrown) };
  const code = 'code' in thrown ? thrown.code : 'sqlstate' in thrown ? thrown.sqlstate : undefined;
  const details = {
    message: safeMessage(thrown),
    ...(code === undefined ? {} : { code: String(code) }),
    ...(withStack ? { stack: stackOf(thrown) } : {}),
  };
  return thrown.cause === undefined || depth === 4
    ? details
    : { ...details, cause: describeCause(thrown.cause, withStack, depth + 1) };
}

/** SQLSTATE classes of errors about values, whose texts quote them; PL/pgSQL and unknown errors may do so as well. */
const quotesValues = /^(?:2[23]|38|44|P0|HY|45)/;

/** The text of an error without values of a request. */
function safeMessage(error: Error): string {
  if (error instanceof PlatformError) return fixedMessage(error.code);
  const isOfValue = 'sqlstate' in error && quotesValues.test(String(error.sqlstate));
  return isOfValue ? 'The database refused a value.' : error.message;
}

/** The stack, which begins with the text of the error. */
function stackOf(error: Error): string | undefined {
  return error.stack?.replace(error.message, () => safeMessage(error));
}

function describeFailed(request: IncomingMessage) {
  const { [requestRecord]: record } = request;
  return { ...describeRequest(request), ...(record !== undefined && { requestId: record.id }) };
}

function describeRequest({ method = '', url = '' }: Pick<IncomingMessage, 'method' | 'url'>) {
  return { method, path: pathOf(url) };
}
