/** Error of a refused request. Source: API specification, section 9. */
import type { JsonObject, JsonValue } from './call.ts';

const codes = [
  'FAILED_VALIDATION',
  'INVALID_PAYLOAD',
  'INVALID_QUERY',
  'INVALID_CREDENTIALS',
  'TOKEN_EXPIRED',
  'INVALID_OTP',
  'INVALID_IP',
  'FORBIDDEN',
  'INVALID_TOKEN',
  'ROUTE_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'UNSUPPORTED_MEDIA_TYPE',
  'RANGE_NOT_SATISFIABLE',
  'UNPROCESSABLE_ENTITY',
  'REQUESTS_EXCEEDED',
  'INTERNAL_SERVER_ERROR',
  'SERVICE_UNAVAILABLE',
] as const;

/** A code that the server answers. */
export type ErrorCode = (typeof codes)[number];

/** One error of an answer. */
export interface ServerError {
  readonly message: string;
  readonly extensions: { readonly code?: string } & JsonObject;
  /** Path in the answer to where it happened; GraphQL only. */
  readonly path?: readonly JsonValue[];
}

/**
 * The server refused a request, or something on the way to it did.
 * @example
 * await client.items('articles').readOne(1).catch((error: unknown) => {
 *   if (error instanceof PlatformError) console.log(error.status, error.code, error.message);
 * });
 */
export class PlatformError extends Error {
  override readonly name = 'PlatformError';
  /** Every error of the answer; empty when the answer is not one of the server's own. */
  readonly errors: readonly ServerError[];
  /** Code of the first error; null if the response is not one of the server's own. */
  readonly code: ErrorCode | null;
  /** HTTP status. */
  readonly status: number;
  /** The answer; its body has been read. */
  readonly response: Response;

  constructor(errors: readonly ServerError[], response: Response) {
    const other = response.ok ? 'is no JSON of the server' : `has the status ${response.status}`;
    super(errors[0]?.message ?? `The answer ${other}.`);
    this.errors = errors;
    this.code = codes.find((code) => code === errors[0]?.extensions?.code) ?? null;
    this.status = response.status;
    this.response = response;
  }
}

/**
 * Tells whether something caught is a `PlatformError`, with the code when one is named. It also knows those of another
 * copy of this package.
 * @example
 * await client.items('articles').deleteOne(1).catch((error: unknown) => {
 *   if (!isPlatformError(error, 'FORBIDDEN')) throw error;
 * });
 */
export function isPlatformError(error: unknown, code?: ErrorCode): error is PlatformError {
  return (
    error instanceof Error &&
    error.name === 'PlatformError' &&
    (code === undefined || ('code' in error && error.code === code))
  );
}

/** Reads the body of an answer that is none of those expected. */
export async function readError(response: Response): Promise<PlatformError> {
  try {
    const body: { readonly errors?: readonly ServerError[] } | null = JSON.parse(await response.text());
    return new PlatformError(Array.isArray(body?.errors) ? body.errors : [], response);
  } catch (error) {
    // A body that is not JSON comes from a proxy; one that cannot be read at all was aborted or cut off.
    if (!(error instanceof SyntaxError)) throw error;
    return new PlatformError([], response);
  }
}

/** Reads the JSON of an answer, undefined where it is empty. Rejects with a `PlatformError` for any other body. */
export async function readJson<T>(response: Response): Promise<T | undefined> {
  const text = await response.text();
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new PlatformError([], response);
  }
}

/** The same of an answer that is never empty. */
export async function readAnswer<T>(response: Response): Promise<T> {
  const body = await readJson<T>(response);
  if (!body) throw new PlatformError([], response);
  return body;
}
