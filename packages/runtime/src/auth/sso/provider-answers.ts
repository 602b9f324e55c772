/** Answers of identity providers: how they are fetched and read, and what their failures mean to a sign-in. */
import {
  AuthorizationResponseError,
  ClientError,
  type CustomFetch,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { PlatformError } from '../../errors.ts';

/** Bytes of the longest answer that is read. */
const longestAnswer = 1_048_576;

/** Asks a provider. Rejects with SERVICE_UNAVAILABLE where it cannot be reached, fails, or answers without end or sense. */
export const fetchBriefly: CustomFetch = async (url, options) => {
  try {
    const { body = null, signal = null, ...rest } = options;
    const response = await fetch(url, { ...rest, body, signal });
    if (response.status >= 500 || response.status === 429) throw new Error(`${response.status} for ${originOf(url)}`);
    const bytes = await readBytes(response);
    const { status, headers } = response;
    if (response.ok && jsonType.test(headers.get('content-type') ?? '')) JSON.parse(bytes.toString());
    return new Response(status === 204 || status === 304 ? null : bytes, { status, headers });
  } catch (error) {
    throw unreachable(error);
  }
};

/** Media types of JSON, that of key sets included. */
const jsonType = /^application\/(?:[\w.-]+\+)?json\b/i;

/** The same, without a member of the answers. */
export function fetchWithout(member: string, ask: CustomFetch): CustomFetch {
  return async (url, options) => {
    const response = await ask(url, options);
    const result = await readJson(response.clone());
    if (!isRecord(result) || !(member in result)) return response;
    const { status, headers } = response;
    const rest = Object.fromEntries(Object.entries(result).filter(([name]) => name !== member));
    return new Response(JSON.stringify(rest), { status, headers });
  };
}

export function readJson(response: Response): Promise<unknown> {
  return response.json().catch(() => null);
}

async function readBytes(response: Response): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > longestAnswer) throw new Error(`More than ${longestAnswer} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** An address in a log must have no parameter. */
function originOf(url: string): string {
  return new URL(url).origin;
}

/** The provider could not be asked, or its answer makes no sense; it may later. */
export function unreachable(thrown: unknown): PlatformError {
  return ours(thrown) ?? new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause: described(thrown) });
}

/** The same where an issuer does not describe itself: most often its address is not what it calls itself. */
export function undescribed(thrown: unknown): PlatformError {
  const message = 'The issuer does not describe itself below ISSUER_URL, or calls itself otherwise';
  return ours(thrown) ?? unreachable(new Error(message, { cause: thrown }));
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
  if (!(thrown instanceof ClientError) || isSenseless(thrown)) return unreachable(thrown);
  return new PlatformError('INVALID_TOKEN', undefined, {}, { cause: described(thrown) });
}

/** Errors of providers that are not about the one who signs in (RFC 6749, section 4.1.2.1). */
const passing: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable']);

/** Codes of errors that a provider sends (RFC 6749, 4.1.2.1; OpenID Connect Core, 3.1.2.6). Others are not repeated. */
const refusals: ReadonlySet<string> = new Set([
  ...passing,
  ...['invalid_request', 'unauthorized_client', 'access_denied', 'unsupported_response_type', 'invalid_scope'],
  ...['interaction_required', 'login_required', 'account_selection_required', 'consent_required'],
  ...['invalid_request_uri', 'invalid_request_object', 'request_not_supported', 'request_uri_not_supported'],
  'registration_not_supported',
]);

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

/**
 * True if an answer as a whole makes no sense. One that has no identity token, or one that does not hold, is for another
 * user perhaps; `senseless` names the rest.
 */
function isSenseless({ code = '', cause }: ClientError): boolean {
  if (senseless.has(code)) return true;
  if (!formCodes.has(code) || !(cause instanceof Error) || cause.message.includes('"id_token"')) return false;
  // The client of providers keeps the body of an answer beside what it misses in it.
  return isRecord(cause.cause) && 'body' in cause.cause;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Codes of answers whose members are not of their types, and of identity tokens that are none. */
const formCodes: ReadonlySet<string> = new Set(['OAUTH_INVALID_RESPONSE', 'OAUTH_UNSUPPORTED_OPERATION']);

/** The client of providers wraps errors of the requests that it sends. */
function ours(thrown: unknown): PlatformError | undefined {
  if (thrown instanceof PlatformError) return thrown;
  return thrown instanceof Error && thrown.cause instanceof PlatformError ? thrown.cause : undefined;
}

/** For the log: its errors carry codes and tokens as their causes. */
function described(thrown: unknown): Error {
  if (!(thrown instanceof Error)) return new Error('Something that is no error was thrown.');
  const code = 'error' in thrown && typeof thrown.error === 'string' ? thrown.error.slice(0, 100) : '';
  const isListed = refusals.has(code) || !(thrown instanceof AuthorizationResponseError);
  const detail = code !== '' && isListed ? `: ${code}` : '';
  const reason = thrown.cause instanceof Error ? ` (${thrown.cause.message})` : '';
  return new Error(`${thrown.message}${detail}${reason}`);
}
