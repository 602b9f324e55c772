/**
 * The answers to requests that failed, once per set of codes. They depend on the operation only, never on a collection.
 *
 * Source: API specification, section 9.
 */
import { failureExamples } from './examples/own-examples.ts';
import { type JsonObject, objectOf, reference } from './json.ts';

interface Failure {
  readonly status: number;
  readonly description: string;
  readonly codes: readonly string[];
  /** Sent with a Retry-After header. */
  readonly retry?: true;
}

const failures = {
  InvalidQuery: {
    status: 400,
    description: 'The query parameters cannot be used, or the request carries two different tokens.',
    codes: ['INVALID_QUERY'],
  },
  InvalidSearch: {
    status: 400,
    description: 'The body cannot be read, or the query in it cannot be used.',
    codes: ['INVALID_PAYLOAD', 'INVALID_QUERY'],
  },
  InvalidWrite: {
    status: 400,
    description: 'The body or the query in it cannot be used, or an item is not valid; then all violations are listed.',
    codes: ['INVALID_PAYLOAD', 'INVALID_QUERY', 'FAILED_VALIDATION'],
  },
  InvalidBody: { status: 400, description: 'The body cannot be used.', codes: ['INVALID_PAYLOAD'] },
  Unauthorized: {
    status: 401,
    description: 'The token is unknown or expired, or may not be used from this address.',
    codes: ['INVALID_CREDENTIALS', 'TOKEN_EXPIRED', 'INVALID_IP'],
  },
  SignInRefused: {
    status: 401,
    description:
      'Nobody has these credentials, a one-time password is missing or wrong, or the address is not allowed.',
    codes: ['INVALID_CREDENTIALS', 'INVALID_OTP', 'INVALID_IP'],
  },
  RefreshRefused: {
    status: 401,
    description: 'The refresh token is unknown, used or expired, or may not be used from this address.',
    codes: ['INVALID_CREDENTIALS', 'TOKEN_EXPIRED', 'INVALID_IP'],
  },
  ArrivalRefused: {
    status: 401,
    description:
      'The provider refuses, there is no active user and nobody may register, the way took longer than five minutes, or the address is not allowed.',
    codes: ['INVALID_CREDENTIALS', 'TOKEN_EXPIRED', 'INVALID_IP'],
  },
  MailedTokenExpired: { status: 401, description: 'The token has expired.', codes: ['TOKEN_EXPIRED'] },
  OtpRefused: {
    status: 401,
    description: 'The access token is unknown or expired, or the one-time password is wrong or was used.',
    codes: ['INVALID_CREDENTIALS', 'TOKEN_EXPIRED', 'INVALID_IP', 'INVALID_OTP'],
  },
  Forbidden: {
    status: 403,
    description: 'The item or a name in the request does not exist or may not be read, or the token is not valid.',
    codes: ['FORBIDDEN', 'INVALID_TOKEN'],
  },
  ForeignPage: {
    status: 403,
    description: 'The cookie was sent by a page of an origin that may not use it.',
    codes: ['FORBIDDEN'],
  },
  InvalidToken: { status: 403, description: 'The token is not valid.', codes: ['INVALID_TOKEN'] },
  RouteNotFound: { status: 404, description: 'There is no such endpoint.', codes: ['ROUTE_NOT_FOUND'] },
  RangeNotSatisfiable: {
    status: 416,
    description: 'The range lies outside the file.',
    codes: ['RANGE_NOT_SATISFIABLE'],
  },
  UnsupportedMediaType: {
    status: 415,
    description: 'The body is not sent as application/json.',
    codes: ['UNSUPPORTED_MEDIA_TYPE'],
  },
  Unprocessable: {
    status: 422,
    description:
      'The request must not be done: `If-Match` names another version, of which `etag` is the tag, an `Idempotency-Key` ' +
      'came with another request before, or a rule stands against it.',
    codes: ['UNPROCESSABLE_ENTITY'],
  },
  RequestsExceeded: { status: 429, description: 'A rate limit was hit.', codes: ['REQUESTS_EXCEEDED'], retry: true },
  InternalServerError: {
    status: 500,
    description: 'An unexpected error occurred; it is a fault of the server.',
    codes: ['INTERNAL_SERVER_ERROR'],
  },
  ServiceUnavailable: {
    status: 503,
    description: 'The database cannot be used now, took too long, or does not fit the API.',
    codes: ['SERVICE_UNAVAILABLE'],
    retry: true,
  },
} as const satisfies Record<string, Failure>;

/** The failures that every request with a token can end in. */
export const commonFailures = [
  'InvalidQuery',
  'Unauthorized',
  'RequestsExceeded',
  'InternalServerError',
  'ServiceUnavailable',
] as const satisfies readonly FailureName[];

/** The name of an answer under `components.responses`. */
export type FailureName = keyof typeof failures;

/** The components of all failed answers, by name. */
export function failureResponses(): readonly (readonly [string, JsonObject])[] {
  return Object.entries(failures).map(([name, failure]) => [name, response(failure)]);
}

/** Refers to failed answers by their status, in ascending order. */
export function failuresByStatus(names: readonly FailureName[]): readonly (readonly [string, JsonObject])[] {
  const sorted = names.toSorted((a, b) => failures[a].status - failures[b].status);
  return sorted.map((name) => [String(failures[name].status), reference('responses', name)]);
}

/** The headers of answers, by name. */
export function headerComponents(): readonly (readonly [string, JsonObject])[] {
  const tag = { type: 'string', pattern: '^W/"[A-Za-z0-9_-]+"$' };
  return [
    ['RetryAfter', { description: 'Seconds to wait.', required: true, schema: { type: 'integer', minimum: 0 } }],
    ['ETag', { description: 'Changes when the answer does.', required: true, schema: tag }],
    ['FileETag', { description: 'Changes when the answer does. Files have none.', schema: tag }],
  ];
}

/** The body of an answer with one of these codes. */
function errorSchema(codes: readonly string[]): JsonObject {
  const limited = codes.length === 1 && codes[0] === 'REQUESTS_EXCEEDED';
  const counters = { limit: { type: 'integer' }, reset: {} };
  const version = { etag: { type: 'string', description: 'Tag of the item as it is now.' } };
  const violation = {
    collection: { type: 'string' },
    field: { type: 'string' },
    type: { type: 'string', description: 'What the item violates: `required`, `unique`, `max_length` and so on.' },
    index: { type: 'integer', minimum: 0, description: 'The place of the item in an array.' },
  };
  const extensions: JsonObject = {
    type: 'object',
    properties: {
      code: { type: 'string', enum: codes },
      ...(limited && counters),
      ...(codes.includes('UNPROCESSABLE_ENTITY') && version),
      ...(codes.includes('FAILED_VALIDATION') && violation),
    },
    required: ['code'],
  };
  const error: JsonObject = {
    type: 'object',
    properties: { message: { type: 'string' }, extensions },
    required: ['message', 'extensions'],
  };
  return {
    type: 'object',
    properties: { errors: { type: 'array', minItems: 1, items: error } },
    required: ['errors'],
  };
}

function response({ description, codes, retry }: Failure): JsonObject {
  return {
    description,
    ...(retry && { headers: { 'Retry-After': reference('headers', 'RetryAfter') } }),
    content: { 'application/json': { schema: errorSchema(codes), ...examplesOf(codes) } },
  };
}

/** Recorded responses by status code, to be spread. */
function examplesOf(codes: readonly string[]): JsonObject {
  const shown = codes.flatMap((code) => {
    const value = failureExamples[code];
    return value === undefined ? [] : [[code, { value }] as const];
  });
  return shown.length > 0 ? { examples: objectOf(shown) } : {};
}
