/** Providers of OpenID Connect, who describe themselves. Source: API specification, section 2.8. */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
} from 'openid-client';
import type { ProviderEnvironment } from '../../environment/providers.ts';
import {
  type Claims,
  fetchBriefly,
  type Passage,
  type Provider,
  timeoutSeconds,
  toSignInError,
  unreachable,
} from './provider.ts';

/** How long a description counts, in milliseconds. */
const freshMs = 3_600_000;

/** Makes one. */
export function createOpenId(environment: ProviderEnvironment, issuer: string): Provider {
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
      return httpContext(configuration, passage, brought).catch((error: unknown) => {
        throw toSignInError(error);
      });
    },
  };
}

async function httpContext(
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
