/** Failures of providers as errors of the platform. Source: API specification, section 2.8. */
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { PlatformError } from '../../errors.ts';

/** The provider could not be asked, or its answer makes no sense; it may later. */
export function unreachable(thrown: unknown): PlatformError {
  return ours(thrown) ?? new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause: described(thrown) });
}

/** Error for a provider that refuses to identify the user. */
export function refusedBy(thrown: unknown): PlatformError {
  return new PlatformError('INVALID_CREDENTIALS', undefined, {}, { cause: described(thrown) });
}

/** Converts the error of an exchange to the one that answers the request. */
export function toSignInError(thrown: unknown): PlatformError {
  const error = ours(thrown);
  if (error !== undefined) return error;
  if (thrown instanceof AuthorizationResponseError) {
    return passing.has(thrown.error) ? unreachable(thrown) : refusedBy(thrown);
  }
  if (thrown instanceof ResponseBodyError || thrown instanceof WWWAuthenticateChallengeError) return refusedBy(thrown);
  if (!(thrown instanceof ClientError) || senseless.has(thrown.code ?? '')) return unreachable(thrown);
  return new PlatformError('INVALID_TOKEN', undefined, {}, { cause: described(thrown) });
}

/** Errors of providers that are not about the one who signs in (RFC 6749, section 4.1.2.1). */
const passing: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable']);

/** Codes of answers that are not valid protocol messages; they say nothing about the user, not even a refusal. */
const senseless: ReadonlySet<string> = new Set([
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_MISSING_SERVER_METADATA',
  'OAUTH_INVALID_SERVER_METADATA',
  'OAUTH_HTTP_REQUEST_FORBIDDEN',
  'OAUTH_REQUEST_PROTOCOL_FORBIDDEN',
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
]);

/** The client of providers wraps errors of the requests that it sends. */
function ours(thrown: unknown): PlatformError | undefined {
  if (thrown instanceof PlatformError) return thrown;
  return thrown instanceof Error && thrown.cause instanceof PlatformError ? thrown.cause : undefined;
}

/** For the log: its errors carry codes and tokens as their causes. */
function described(thrown: unknown): Error {
  if (!(thrown instanceof Error)) return new Error('Something that is no error was thrown.');
  const detail = 'error' in thrown && typeof thrown.error === 'string' ? `: ${thrown.error.slice(0, 100)}` : '';
  const reason = thrown.cause instanceof Error ? ` (${thrown.cause.message})` : '';
  return new Error(`${thrown.message}${detail}${reason}`);
}
