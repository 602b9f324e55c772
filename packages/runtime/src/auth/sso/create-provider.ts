import type { ProviderEnvironment } from '../../environment/providers.ts';
import { createOauth2 } from './oauth2.ts';
import { createOpenId } from './openid.ts';
import type { Provider } from './provider.ts';

/** Makes the provider. The provider is not contacted before the first sign-in. */
export function createProvider(environment: ProviderEnvironment): Provider {
  const { endpoints } = environment;
  return endpoints.driver === 'openid'
    ? createOpenId(environment, endpoints.issuer)
    : createOauth2(environment, endpoints);
}
