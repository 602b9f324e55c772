/** Providers as signing in sees them, and their drivers: OpenID Connect, where providers describe themselves, and OAuth 2. */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
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
  setJwksCache,
} from 'openid-client';
import type { ProviderEndpoints, ProviderEnvironment } from '../../environment/providers.ts';
import {
  fetchBriefly,
  fetchWithout,
  isRecord,
  readJson,
  refusedBy,
  toSignInError,
  undescribed,
  unreachable,
} from './provider-answers.ts';
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
  /** Exchanges the parameters of the callback, whose state was compared, for the provider's claims about the user. */
  profile(passage: Passage, brought: URLSearchParams): Promise<Claims>;
}

/** Seconds that one answer may take, from the question to its last byte. */
const timeoutSeconds = 5;

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
  const keys = new SigningKeys();
  const describe = remembered(async () => {
    let description = '';
    await discover(environment, issuer, async (url, options) => {
      const response = await fetchBriefly(url, options);
      description = await response.clone().text();
      return response;
    });
    return description;
  }, freshMs);
  const configure = async () => configureBy(await describe(), keys, environment, issuer);
  return {
    async authorize({ secrets, redirectUri }) {
      const configuration = await configure();
      return buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: environment.scope,
        ...responseModeOf(configuration),
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: 'S256',
      });
    },
    async profile(passage, brought) {
      const configuration = await configure();
      return redeemClaims(configuration, passage, brought).catch((error: unknown) => {
        throw toSignInError(error);
      });
    },
  };
}

/** A provider that brings people back by a form only is asked for that; the query is what it does where nothing is said. */
function responseModeOf(configuration: Configuration): { readonly response_mode?: 'form_post' } {
  const modes = configuration.serverMetadata().response_modes_supported ?? ['query'];
  return modes.includes('form_post') && !modes.includes('query') ? { response_mode: 'form_post' } : {};
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

/** Makes the configuration of one sign-in: a longer one keeps keys for a minute, also where the provider has others. */
async function configureBy(
  description: string,
  keys: SigningKeys,
  environment: ProviderEnvironment,
  issuer: string,
): Promise<Configuration> {
  let isDescribed = false;
  let keysUrl: string | undefined;
  const configuration = await discover(environment, issuer, async (url, options) => {
    if (isDescribed) return url === keysUrl ? keys.fetch(url, options) : fetchBriefly(url, options);
    isDescribed = true;
    return jsonResponse(description);
  });
  const { jwks_uri: named } = configuration.serverMetadata();
  keysUrl = named === undefined ? undefined : new URL(named).href;
  const cached = keys.cached();
  if (cached !== null) setJwksCache(configuration, { jwks: cached, uat: Math.floor(Date.now() / 1000) - staleSeconds });
  return configuration;
}

function jsonResponse(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'application/json' } });
}

/** Time that keys count, and the shortest time between two renewals because of unknown keys. */
const keysFreshMs = 300_000;
const unknownKeyMs = 10_000;

/** The age, in seconds, from which the client of providers asks again for a key that it does not find. */
const staleSeconds = 60;

type KeySet = Parameters<typeof setJwksCache>[1]['jwks'];

/** Keys that a provider signs with: all sign-ins share them, and ask again for a key that is not among them. */
class SigningKeys {
  #cached: { readonly keys: KeySet; readonly at: number } | null = null;
  #request: Promise<Response> | null = null;
  #renewedAt = Number.NEGATIVE_INFINITY;

  /** The keys at hand; null if there are none, or too old ones. */
  cached(): KeySet | null {
    return this.#cached !== null && performance.now() - this.#cached.at < keysFreshMs ? this.#cached.keys : null;
  }

  /** Fetches the keys, unless they were renewed just now. */
  readonly fetch: CustomFetch = async (url, options) => {
    const keys = this.cached();
    if (keys !== null && performance.now() - this.#renewedAt < unknownKeyMs) return jsonResponse(JSON.stringify(keys));
    this.#request ??= this.#ask(url, options).finally(() => {
      this.#request = null;
    });
    return (await this.#request).clone();
  };

  async #ask(...request: Parameters<CustomFetch>): Promise<Response> {
    const response = await fetchBriefly(...request);
    const keys = await readJson(response.clone());
    if (!response.ok || !isKeySet(keys)) return response;
    if (this.cached() !== null) this.#renewedAt = performance.now();
    this.#cached = { keys, at: performance.now() };
    return response;
  }
}

function isKeySet(value: unknown): value is KeySet {
  return isRecord(value) && Array.isArray(value.keys) && value.keys.every(isRecord);
}

async function discover(
  { clientId, clientSecret }: ProviderEnvironment,
  issuer: string,
  ask: CustomFetch,
): Promise<Configuration> {
  try {
    const configuration = await discovery(new URL(issuer), clientId, undefined, authenticateBy(clientSecret), {
      timeout: timeoutSeconds,
      [customFetch]: ask,
      execute: issuer.startsWith('http:') ? [allowInsecureRequests] : [],
    });
    // Without it a token is believed because of the connection that it came by.
    enableNonRepudiationChecks(configuration);
    return configuration;
  } catch (error) {
    throw undescribed(error);
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
  // The issuer is not known. Each provider has its own redirect URI, which distinguishes them (RFC 9700, section 4.4).
  compared.delete('iss');
  returned.search = compared.toString();
  const checks = { expectedState: secrets.state, pkceCodeVerifier: secrets.verifier };
  return authorizationCodeGrant(configuration, returned, checks);
}

async function readProfile(configuration: Configuration, token: string, url: string): Promise<Claims> {
  const headers = new Headers({ accept: 'application/json' });
  const response = await fetchProtectedResource(configuration, token, new URL(url), 'GET', null, headers);
  if (response.status >= 400) throw refusedBy(new Error(`The profile answered ${response.status}.`));
  const profile = await readJson(response);
  if (isRecord(profile)) return profile;
  throw unreachable(new Error('The profile is no JSON object.'));
}
