/** A provider as signing in sees it, the same for every driver. */
import {
  AuthorizationResponseError,
  ClientError,
  type CustomFetch,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { PlatformError } from '../../errors.ts';
import type { StateSecrets } from './state.ts';

/** Claims about a user, as the provider returns them. */
export type Claims = Readonly<Record<string, unknown>>;

/** One way to a provider and back. */
export interface Passage {
  readonly secrets: StateSecrets;
  /** Where the provider sends people back to. */
  readonly redirectUri: string;
}

/** A provider. Both reject with the error that answers the request. */
export interface Provider {
  /** Returns the address at which the user signs in to the provider. */
  authorize(passage: Passage): Promise<URL>;
  /**
   * Exchanges the parameters of the callback, after their state was compared, for the provider's claims about the user.
   */
  profile(passage: Passage, brought: URLSearchParams): Promise<Claims>;
}

/** Seconds that one answer may take, from the question to its last byte. */
export const timeoutSeconds = 5;

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
    if (response.ok && /^application\/json\b/i.test(headers.get('content-type') ?? '')) JSON.parse(bytes.toString());
    return new Response(status === 204 || status === 304 ? null : bytes, { status, headers });
  } catch (error) {
    throw unreachable(error);
  }
};

/** The same, without a member of the answers. */
export function fetchWithout(member: string, ask: CustomFetch): CustomFetch {
  return async (url, options) => {
    const response = await ask(url, options);
    const result: unknown = await response
      .clone()
      .json()
      .catch(() => null);
    if (typeof result !== 'object' || result === null || !(member in result)) return response;
    const { status, headers } = response;
    const rest = Object.fromEntries(Object.entries(result).filter(([name]) => name !== member));
    return new Response(JSON.stringify(rest), { status, headers });
  };
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
