/** The errors of the API: status and message from the table of the runtime, meaning and cure from here. */
import { type ErrorCode, errorCodes, errorStatus, PlatformError } from '../../packages/runtime/src/errors.ts';
import { code, table } from './markdown.ts';

const meanings: Readonly<Record<ErrorCode, readonly [meaning: string, cure: string]>> = {
  FAILED_VALIDATION: [
    'The item breaks a rule or a constraint. `extensions` has `collection`, `field` and `type`.',
    'Correct the field and send the item again.',
  ],
  INVALID_PAYLOAD: [
    'The body cannot be used: syntax, a key that stands twice, shape, a wrong type, or too large.',
    'Correct the body.',
  ],
  INVALID_QUERY: [
    'The query parameters cannot be used, or the request carries two different tokens.',
    'Correct the query; the message says where.',
  ],
  INVALID_CREDENTIALS: [
    'The name, the password or the access token is wrong, or its user is not active.',
    'Sign in, or use another token.',
  ],
  TOKEN_EXPIRED: ['The token was valid and is no more.', 'Refresh the session.'],
  INVALID_OTP: ['The one-time password is missing or wrong.', 'Ask for a new one.'],
  INVALID_IP: ["The caller's address is not on the role's list.", 'Come from an allowed address.'],
  FORBIDDEN: [
    'The caller may not do this, or the collection, field or item does not exist. Both look the same on purpose.',
    'Check the spelling, then the permissions of the role.',
  ],
  INVALID_TOKEN: ['The token is garbled, forged or of another kind.', 'Sign in again.'],
  ROUTE_NOT_FOUND: [
    'There is no such path, or it does not take this method. Paths are exact: case counts, and no slash ends them.',
    'Check path and method.',
  ],
  METHOD_NOT_ALLOWED: ['A GraphQL mutation came by GET.', 'Use POST.'],
  UNSUPPORTED_MEDIA_TYPE: ['The body is not JSON in UTF-8.', 'Send `Content-Type: application/json`.'],
  RANGE_NOT_SATISFIABLE: ['The range lies outside the file.', 'Read `Content-Range` and ask again.'],
  UNPROCESSABLE_ENTITY: ['The request is right in itself but must not be done.', 'Read the message.'],
  REQUESTS_EXCEEDED: ['A rate limit was hit.', 'Wait as many seconds as `Retry-After` says.'],
  INTERNAL_SERVER_ERROR: ['A bug of the server, always.', 'Report it with the lines of the log.'],
  SERVICE_UNAVAILABLE: [
    'The database does not answer or took too long, or a table no longer fits what was compiled.',
    'Wait as many seconds as `Retry-After` says; when it stays, see below.',
  ],
};

/** Every code with its status, the message that it has by default, its meaning and its cure. */
export function printErrors(): string {
  return table(
    ['Code', 'Status', 'Message', 'Meaning', 'Cure'],
    errorCodes.map((name) => [
      name,
      String(errorStatus(name)),
      code(new PlatformError(name).message),
      ...meanings[name],
    ]),
  );
}
