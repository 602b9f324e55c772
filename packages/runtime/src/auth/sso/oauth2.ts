/**
 * Providers of OAuth 2.0, known by three addresses only. The user is identified by the profile that the access token
 * opens. An identity token that comes along could not be verified against anything, so it is ignored.
 */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  fetchProtectedResource,
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

type Endpoints = Extract<ProviderEndpoints, { readonly driver: 'oauth2' }>;

/** Makes one. */
export function createOauth2(environment: ProviderEnvironment, endpoints: Endpoints): Provider {
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
        const { access_token } = await httpContext(tokens, passage, brought);
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

function httpContext(configuration: Configuration, { secrets, redirectUri }: Passage, brought: URLSearchParams) {
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
