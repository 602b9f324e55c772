/** Single sign-on, for each provider. Source: API specification, section 2.8. */
import type { Arrival, SingleSignOn } from '../../auth/sso/single-sign-on.ts';
import type { Environment } from '../../environment.ts';
import { PlatformError } from '../../errors.ts';
import type { OutputOf, ssoResource } from '../../language/operations/index.ts';
import { tokensResult } from '../auth/pair-answer.ts';
import { createRefreshCookie } from '../auth/refresh-cookie.ts';
import { createStateCookie } from '../auth/state-cookie.ts';
import type { BoundOperation, Implementations, OperationContext, OperationResult } from './bind.ts';

type ArrivalOutput = OutputOf<(typeof ssoResource)['operations']['authLoginCallback']>;

/** Ways to one provider and back. */
export function ssoOperations(way: SingleSignOn, environment: Environment): Implementations<typeof ssoResource> {
  const cookie = createStateCookie(way.environment.name, environment.auth.cookie.secure);
  const refreshCookie = createRefreshCookie(environment);

  function resultOf({ redirect, spent, outcome }: Arrival): OperationResult<ArrivalOutput> {
    const cleared = spent ? ['Set-Cookie', cookie.clear()] : [];
    if ('pair' in outcome) {
      const { pair } = outcome;
      if (redirect === null) {
        return { ...tokensResult(pair, 'json', environment.auth.accessTokenTtl, refreshCookie), headers: cleared };
      }
      const headers = [...cleared, ...refreshCookie.set(pair.refreshToken)];
      return { value: undefined, location: redirect, headers };
    }
    const { error } = outcome;
    if (redirect === null) throw spent ? withHeader(error, 'set-cookie', cookie.clear()) : error;
    return { value: undefined, location: withReason(redirect, error), headers: cleared };
  }

  async function arrive(_: object, { query, request, sender }: OperationContext) {
    return resultOf(await way.arrive(new URLSearchParams(query), cookie.read(request), sender));
  }

  return {
    async authLoginProvider({ redirect = null }) {
      const { location, cookie: held } = await way.depart(redirect);
      return { value: undefined, location, headers: ['Set-Cookie', cookie.set(held)] };
    },
    authLoginCallback: arrive,
    authLoginCallbackForm: arrive,
  };
}

/** The same at addresses of this provider, so that no other name is one. */
export function atProvider({ operation, ...callable }: BoundOperation, name: string): BoundOperation {
  const [start = '', end = ''] = operation.route.split('{provider}');
  const { provider, ...input } = operation.input ?? {};
  // The name stands in place of the parameter, so that it is a route still.
  return { ...callable, operation: { ...operation, input, route: `${start}${name}${end}` as typeof operation.route } };
}

function withReason(redirect: URL, { code }: PlatformError): URL {
  const url = new URL(redirect);
  url.searchParams.set('reason', code);
  return url;
}

function withHeader(error: PlatformError, name: string, value: string): PlatformError {
  const headers = { ...error.headers, [name]: value };
  return new PlatformError(error.code, error.message, error.extensions, { cause: error.cause, headers });
}
