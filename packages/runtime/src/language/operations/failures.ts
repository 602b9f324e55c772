/** Failures that operations declare. They depend on the operation alone, never on a collection. */

/** Answer to requests that failed. */
export interface Failure {
  readonly status: number;
  readonly description: string;
  readonly codes: readonly string[];
  /** Sent with a Retry-After header. */
  readonly retry?: true;
}

/** Answers of one set of codes each, by the name of their component. Source: API specification, section 9. */
export const failures = {
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
    description: 'The credentials are wrong, a one-time password is missing or wrong, or the address is not allowed.',
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
      'The provider refuses, there is no active user and registration is disabled, the way took longer than five minutes, or the address is not allowed.',
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

/** Failures that every request with a token can end in. */
export const commonFailures = [
  'InvalidQuery',
  'Unauthorized',
  'RequestsExceeded',
  'InternalServerError',
  'ServiceUnavailable',
] as const satisfies readonly FailureName[];

/** Name of an answer under `components.responses`. */
export type FailureName = keyof typeof failures;
