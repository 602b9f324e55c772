/** Drivers of providers: OpenID Connect, where providers describe themselves, and OAuth 2.0, where three addresses are known. */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchProtectedResource,
  fetchUserInfo,
} from 'openid-client';
import type { ProviderEndpoints, ProviderEnvironment } from '../../environment/providers.ts';
import {
  type Claims,
  fetchBriefly,
  fetchWithout,
  type Passage,
  type Provider,
  refusedBy,
  timeoutSeconds,
  toSignInError,
  unreachable,
} from './provider.ts';

/** Makes the provider. The provider is not contacted before the first sign-in. */
export function createProvider(environment: ProviderEnvironment): Provider {
  const { endpoints } = environment;
  return endpoints.driver === 'openid'
    ? createOpenId(environment, endpoints.issuer)
    : createOauth2(environment, endpoints);
}

/** How long a description counts, in milliseconds. */
const freshMs = 3_600_000;

/** Makes one. */
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

/** Makes one. */
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
