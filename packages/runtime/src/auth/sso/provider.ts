/** Providers as signing in sees them, and their drivers: OpenID Connect, where providers describe themselves, and OAuth 2. */
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchProtectedResource,
  fetchUserInfo,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import type { ProviderEndpoints, ProviderEnvironment } from '../../environment/providers.ts';
import { PlatformError } from '../../errors.ts';
import type { StateSecrets } from './state.ts';

/** Claims about a user, as the provider returns them. */
export type Claims = Readonly<Record<string, unknown>>;

/** One way to a provider and back. */
interface Passage {
  readonly secrets: StateSecrets;
  /** Address that the provider sends people back to. */
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
const timeoutSeconds = 5;

/** Bytes of the longest answer that is read. */
const longestAnswer = 1_048_576;

/** Asks a provider. Rejects with SERVICE_UNAVAILABLE where it cannot be reached, fails, or answers without end or sense. */
const fetchBriefly: CustomFetch = async (url, options) => {
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
function fetchWithout(member: string, ask: CustomFetch): CustomFetch {
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
function unreachable(thrown: unknown): PlatformError {
  return ours(thrown) ?? new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause: described(thrown) });
}

/** Error for a provider that refuses to identify the user. */
function refusedBy(thrown: unknown): PlatformError {
  return new PlatformError('INVALID_CREDENTIALS', undefined, {}, { cause: described(thrown) });
}

/** Converts the error of an exchange to the one that answers the request. */
function toSignInError(thrown: unknown): PlatformError {
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

/** Makes the provider. The provider is not contacted before the first sign-in. */
export function createProvider(environment: ProviderEnvironment): Provider {
  const { endpoints } = environment;
  return endpoints.driver === 'openid'
    ? createOpenId(environment, endpoints.issuer)
    : createOauth2(environment, endpoints);
}

/** Time that a description counts, in milliseconds. */
const freshMs = 3_600_000;

function createOpenId(environment: ProviderEnvironment, issuer: string): Provider {
  const describe = remembered(() => discover(environment, issuer), freshMs);
  return {
    async authorize({ secrets, redirectUri }) {
      return buildAuthorizationUrl(await describe(), {
        redirect_uri: redirectUri,
        scope: environment.scope,
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: 'S256',
      });
    },
    async profile(passage, brought) {
      const configuration = await describe();
      return redeemClaims(configuration, passage, brought).catch((error: unknown) => {
        throw toSignInError(error);
      });
    },
  };
}

async function redeemClaims(
  configuration: Configuration,
  { secrets, redirectUri }: Passage,
  brought: URLSearchParams,
): Promise<Claims> {
  const returned = new URL(redirectUri);
  returned.search = brought.toString();
  const tokens = await authorizationCodeGrant(configuration, returned, {
    expectedState: secrets.state,
    expectedNonce: secrets.nonce,
    pkceCodeVerifier: secrets.verifier,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (claims === undefined) throw new Error('There is no identity token.');
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
  const more = await fetchUserInfo(configuration, tokens.access_token, claims.sub);
  // Signed claims take precedence over unsigned ones.
  return { ...more, ...claims };
}

async function discover({ clientId, clientSecret }: ProviderEnvironment, issuer: string): Promise<Configuration> {
  try {
    const configuration = await discovery(new URL(issuer), clientId, undefined, authenticateBy(clientSecret), {
      timeout: timeoutSeconds,
      [customFetch]: fetchBriefly,
      execute: issuer.startsWith('http:') ? [allowInsecureRequests] : [],
    });
    // Without it a token is believed because of the connection that it came by.
    enableNonRepudiationChecks(configuration);
    return configuration;
  } catch (error) {
    throw unreachable(error);
  }
}

/** As the provider wants it: in a header where nothing else is said (OpenID Connect Discovery, section 3). */
function authenticateBy(secret: string): ClientAuth {
  const basic = ClientSecretBasic(secret);
  const post = ClientSecretPost(secret);
  return (server, client, body, headers) => {
    const ways = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (ways.includes('client_secret_basic') ? basic : post)(server, client, body, headers);
  };
}

/** Runs a work once for all callers, and again when it has failed or its result is too old. */
function remembered<T>(work: () => Promise<T>, ms: number): () => Promise<T> {
  let cached: { readonly result: Promise<T>; readonly until: number } | undefined;
  return () => {
    if (cached !== undefined && performance.now() < cached.until) return cached.result;
    const result = work();
    const mine = { result, until: performance.now() + ms };
    cached = mine;
    result.catch(() => {
      if (cached === mine) cached = undefined;
    });
    return result;
  };
}

type Endpoints = Extract<ProviderEndpoints, { readonly driver: 'oauth2' }>;

function createOauth2(environment: ProviderEnvironment, endpoints: Endpoints): Provider {
  const tokens = configure(environment, endpoints);
  return {
    async authorize({ secrets, redirectUri }) {
      return buildAuthorizationUrl(tokens, {
        redirect_uri: redirectUri,
        scope: environment.scope,
        state: secrets.state,
        code_challenge: await calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: 'S256',
      });
    },
    async profile(passage, brought) {
      try {
        const { access_token } = await redeemCode(tokens, passage, brought);
        return await readProfile(tokens, access_token, endpoints.profile);
      } catch (error) {
        throw toSignInError(error);
      }
    },
  };
}

function configure({ clientId, clientSecret }: ProviderEnvironment, { authorize, access, profile }: Endpoints) {
  const server = { issuer: new URL(authorize).origin, authorization_endpoint: authorize, token_endpoint: access };
  const configuration = new Configuration(server, clientId, undefined, ClientSecretPost(clientSecret));
  configuration.timeout = timeoutSeconds;
  configuration[customFetch] = fetchWithout('id_token', fetchBriefly);
  if ([authorize, access, profile].some((url) => url.startsWith('http:'))) allowInsecureRequests(configuration);
  return configuration;
}

function redeemCode(configuration: Configuration, { secrets, redirectUri }: Passage, brought: URLSearchParams) {
  const returned = new URL(redirectUri);
  const compared = new URLSearchParams(brought);
  // The issuer is not known. Each provider has a redirect URI of its own, which distinguishes them (RFC 9700, section
  // 4.4).
  compared.delete('iss');
  returned.search = compared.toString();
  const checks = { expectedState: secrets.state, pkceCodeVerifier: secrets.verifier };
  return authorizationCodeGrant(configuration, returned, checks);
}

async function readProfile(configuration: Configuration, token: string, url: string): Promise<Claims> {
  const headers = new Headers({ accept: 'application/json' });
  const response = await fetchProtectedResource(configuration, token, new URL(url), 'GET', null, headers);
  if (response.status >= 400) throw refusedBy(new Error(`The profile answered ${response.status}.`));
  const profile: unknown = await response.json().catch(() => null);
  if (typeof profile === 'object' && profile !== null && !Array.isArray(profile)) return { ...profile };
  throw unreachable(new Error('The profile is no JSON object.'));
}
