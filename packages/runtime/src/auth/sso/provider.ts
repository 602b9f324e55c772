/** A provider as signing in sees it, whatever its driver. */
import type { ProviderEnvironment } from '../../environment/providers.ts';
import { createOauth2 } from './oauth2.ts';
import { createOpenId } from './openid.ts';
import type { StateSecrets } from './state.ts';

/** What a provider says about somebody, as it says it. */
export type Claims = Readonly<Record<string, unknown>>;

/** One way to a provider and back. */
export interface Passage {
  readonly secrets: StateSecrets;
  /** Where the provider sends people back to. */
  readonly redirectUri: string;
}

/** A provider. Both reject with the error that answers the request. */
export interface Provider {
  /** The address of the provider at which somebody signs in. */
  authorize(passage: Passage): Promise<URL>;
  /** Exchanges what somebody brought back, whose state has been compared, for what the provider says about them. */
  profile(passage: Passage, brought: URLSearchParams): Promise<Claims>;
}

/** Makes it. Nothing is asked of the provider before somebody wants to sign in. */
export function createProvider(environment: ProviderEnvironment): Provider {
  const { endpoints } = environment;
  return endpoints.driver === 'openid'
    ? createOpenId(environment, endpoints.issuer)
    : createOauth2(environment, endpoints);
}
