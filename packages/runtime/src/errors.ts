/**
 * The one table of every error a request can end with, and its form on the wire.
 *
 * Source: API specification, section 9. The list is closed: a new code is a change of the specification.
 */
import { type CompiledApi, contract, type JsonValue } from './language/index.ts';

interface ErrorKind {
  readonly status: number;
  /** Sent when the thrower gives none. */
  readonly message: string;
  /** True if every answer has the same bytes, so that the text does not reveal the cause. */
  readonly fixed: boolean;
}

const kinds = {
  FAILED_VALIDATION: { status: 400, message: 'The item is not valid.', fixed: false },
  INVALID_PAYLOAD: { status: 400, message: 'The payload is not valid.', fixed: false },
  INVALID_QUERY: { status: 400, message: 'The query cannot be used.', fixed: false },
  INVALID_CREDENTIALS: { status: 401, message: 'The credentials are not valid.', fixed: true },
  TOKEN_EXPIRED: { status: 401, message: 'The token has expired.', fixed: true },
  INVALID_OTP: { status: 401, message: 'The one-time password is not valid.', fixed: false },
  INVALID_IP: { status: 401, message: 'The address is not allowed for this user.', fixed: true },
  FORBIDDEN: { status: 403, message: 'Not found, or you do not have permission.', fixed: true },
  INVALID_TOKEN: { status: 403, message: 'The token is not valid.', fixed: true },
  ROUTE_NOT_FOUND: { status: 404, message: 'There is no such endpoint.', fixed: true },
  METHOD_NOT_ALLOWED: { status: 405, message: 'The method is not allowed here.', fixed: true },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'Send the body as application/json.', fixed: false },
  RANGE_NOT_SATISFIABLE: { status: 416, message: 'The range lies outside the file.', fixed: true },
  UNPROCESSABLE_ENTITY: { status: 422, message: 'This cannot be done.', fixed: false },
  REQUESTS_EXCEEDED: { status: 429, message: 'Too many requests.', fixed: true },
  INTERNAL_SERVER_ERROR: { status: 500, message: 'An unexpected error occurred.', fixed: true },
  SERVICE_UNAVAILABLE: { status: 503, message: 'The service is temporarily unavailable.', fixed: true },
} as const satisfies Record<string, ErrorKind>;

/** A code of the API specification, section 9. */
export type ErrorCode = keyof typeof kinds;

/** Every code there is, in the order of the specification. */
export const errorCodes: readonly ErrorCode[] = Object.freeze(Object.keys(kinds).filter(isErrorCode));

/** Seconds that a client should wait before it asks an unavailable service again. */
export const retryAfterSeconds = 1;

/** Members of an error beside its code, for example `collection`, `field` and `type`. */
export type ErrorExtensions = { readonly [name: string]: JsonValue } & { readonly code?: never };

/**
 * Parts of an error that never reach its own body. These are its cause (for the log), headers of the answer, and other
 * errors that the answer lists after it. `missing` is what is hidden or unknown, for explanations.
 */
export interface ErrorOptions {
  readonly cause?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly others?: readonly PlatformError[];
  readonly missing?: string;
}

/** True if a text is a code of the table. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(kinds, code);
}

/** Text of a code that holds nothing of a request. */
export function fixedMessage(code: ErrorCode): string {
  return kinds[code].message;
}

export function errorStatus(code: ErrorCode): number {
  return kinds[code].status;
}

/**
 * An error with a code of the specification: the only kind of error whose text reaches a client.
 *
 * `message` is dropped for codes with one fixed text; put facts for the operator only into `cause`.
 * @example throw new PlatformError('INVALID_PAYLOAD', '"title" must not be "Draft".', { field: 'title' });
 */
export class PlatformError extends Error {
  override readonly name = 'PlatformError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly extensions: ErrorExtensions;
  readonly headers: Readonly<Record<string, string>>;
  /** Errors of the same status that the answer lists after this one. */
  readonly others: readonly PlatformError[];
  /** The name that is hidden or unknown: told to administrators alone. */
  readonly missing: string | undefined;

  constructor(code: ErrorCode, message?: string, extensions: ErrorExtensions = {}, options: ErrorOptions = {}) {
    const kind: ErrorKind = kinds[code];
    super(
      kind.fixed || message === undefined ? kind.message : message,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.status = kind.status;
    this.extensions = extensions;
    this.others = options.others ?? [];
    this.missing = options.missing;
    this.headers = code === 'SERVICE_UNAVAILABLE' ? { ...retryAfter, ...options.headers } : (options.headers ?? {});
  }
}

const retryAfter = { 'retry-after': String(retryAfterSeconds) };

/**
 * Prints the JSON body of an answer that failed: `{"errors":[{"message","extensions":{"code",…}}]}`. `namesMissing` is true
 * for callers from whom no name is hidden.
 * @example const body = errorBody([new PlatformError('FORBIDDEN')]);
 */
export function errorBody(errors: readonly PlatformError[], namesMissing = false): string {
  return JSON.stringify({
    errors: errors.map((error) => ({
      message: messageOf(error, namesMissing),
      extensions: { code: error.code, ...error.extensions },
    })),
  });
}

/** Text of an error in an answer; `namesMissing` is true for callers from whom no name is hidden. */
export function messageOf({ message, missing }: PlatformError, namesMissing = false): string {
  return namesMissing && missing !== undefined ? `${missingText}${missing}.` : message;
}

const missingText = 'Not found, or secret: ';

export function readErrorBody(body: Buffer): PlatformError {
  const { errors }: { readonly errors: readonly PrintedError[] } = JSON.parse(body.toString('utf8'));
  const read = errors.map(({ message, extensions: { code, ...extensions } }) => {
    const missing = message.startsWith(missingText) ? { missing: message.slice(missingText.length, -1) } : {};
    return new PlatformError(isErrorCode(code) ? code : 'INTERNAL_SERVER_ERROR', message, extensions, missing);
  });
  return together(read) ?? new PlatformError('INTERNAL_SERVER_ERROR');
}

interface PrintedError {
  readonly message: string;
  readonly extensions: { readonly code: string } & Readonly<Record<string, JsonValue>>;
}

/** The client of a read has closed its connection, so that its statement was ended. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';

  constructor() {
    super('The client has left.');
  }
}

/** True if a read ended because its client has left. */
export function isClientGone(error: unknown): boolean {
  return error instanceof PlatformError && error.cause instanceof ClientGoneError;
}

/** Makes one error of several with one code, to be thrown together; undefined when there is none. */
export function together(errors: readonly PlatformError[]): PlatformError | undefined {
  const [first, ...others] = errors;
  if (first === undefined || others.length === 0) return first;
  return new PlatformError(first.code, first.message, first.extensions, { cause: first.cause, others });
}

/** Takes anything that was thrown: an error of ours stays, every other becomes INTERNAL_SERVER_ERROR with it as cause. */
export function toPlatformError(thrown: unknown): PlatformError {
  return thrown instanceof PlatformError
    ? thrown
    : new PlatformError('INTERNAL_SERVER_ERROR', undefined, {}, { cause: thrown });
}

/** A query that cannot be used; the message ends up in the answer, so it names nothing the request does not. */
export function invalidQuery(message: string): PlatformError {
  return new PlatformError('INVALID_QUERY', message);
}

/**
 * A name that is hidden or unknown: one answer for both. `missing` is told to explanations and administrators only.
 * @example throw forbidden('"titel" of articles');
 */
export function forbidden(missing?: string): PlatformError {
  return new PlatformError('FORBIDDEN', undefined, {}, missing === undefined ? {} : { missing });
}

/** A name of a collection's field or relation that is hidden or unknown. */
export function missingName(
  { descriptor }: { readonly descriptor: { readonly name: string } },
  name: string,
): PlatformError {
  return forbidden(`${JSON.stringify(name)} of ${descriptor.name}`);
}

/** A collection that is hidden or unknown. Those without a path below `/items` come as an empty name. */
export function missingCollection(name: string): PlatformError {
  return forbidden(name === '' ? undefined : JSON.stringify(name));
}

/** Thrown for generated files that were made for another contract than that of this runtime. */
export class ContractError extends Error {
  override readonly name = 'ContractError';

  constructor(made: number, folder = 'generated') {
    super(`${folder}/ was made for contract ${made}, this is ${contract}: run platform generate.`);
  }
}

/** Throws if the runtime cannot serve the generated API. `folder` is that of the generated files, for the message. */
export function refuseContract(made: CompiledApi['contract'], folder?: string): void {
  if (made !== contract) throw new ContractError(made, folder);
}
