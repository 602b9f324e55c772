/** Signing in and out, and passwords by mail. Source: API specification, sections 2.3 to 2.7. */
import type { Accounts } from '../../auth/accounts.ts';
import type { TokenPair } from '../../auth/sessions/sessions.ts';
import type { Arrival, SingleSignOn } from '../../auth/sso/single-sign-on.ts';
import { clientOf } from '../../environment/networks.ts';
import type { Environment } from '../../environment.ts';
import { PlatformError } from '../../errors.ts';
import type { authResource, OutputOf, passwordResource, ssoResource } from '../../language/operations/index.ts';
import { allowedUrl } from '../../mail/allowed-url.ts';
import { createRefreshCookie, createStateCookie, type RefreshCookie } from '../auth/cookies.ts';
import {
  type BoundOperation,
  done,
  type Implementations,
  type OperationContext,
  type OperationResult,
} from './bind.ts';

export function authOperations(
  { signIn }: Pick<Accounts<unknown>, 'signIn'>,
  environment: Environment,
): Implementations<typeof authResource> {
  const cookie = createRefreshCookie(environment);
  const { providers, disableDefault, accessTokenTtl } = environment.auth;
  return {
    authLogin: disableDefault
      ? null
      : async ({ email, password, otp = null, mode = 'json' }, { sender }) =>
          tokensResult(await signIn.login({ email, password, otp }, sender), mode, accessTokenTtl, cookie),
    async authRefresh({ refresh_token: bodyToken, mode }, { request, sender }) {
      const pair = await signIn.refresh(presented(bodyToken, cookie.read(request)), sender);
      // The token returns to where it came from.
      return tokensResult(pair, mode ?? (bodyToken === undefined ? 'cookie' : 'json'), accessTokenTtl, cookie);
    },
    async authLogout({ refresh_token: bodyToken, all = false }, { request }) {
      const held = cookie.read(request);
      await signIn.logout(presented(bodyToken, held), all);
      return { value: undefined, headers: held === null ? [] : cookie.clear() };
    },
    async authProviders() {
      const data = [...providers.values()].map(({ name, endpoints: { driver }, icon, label }) => {
        return { name, driver, ...(icon !== null && { icon }), ...(label !== null && { label }) };
      });
      return { value: { data, disableDefault } };
    },
  };
}

export function passwordOperations(
  accounts: Pick<Accounts<unknown>, 'requestReset' | 'setPassword' | 'outbox'>,
  { mail }: Pick<Environment, 'mail'>,
): Implementations<typeof passwordResource> {
  return {
    async authPasswordRequest({ email, reset_url }, { sender }) {
      await accounts.requestReset(email, linkOf('reset_url', reset_url, mail.reset.allowed), clientOf(sender));
      return { ...done, afterwards: accounts.outbox.wake };
    },
    async authPasswordReset({ token, password }, { sender }) {
      await accounts.setPassword('password_reset', token, password, sender);
      return done;
    },
  };
}

/** The token in the body takes precedence over the cookie, which browsers remove when its session has ended. */
function presented(bodyToken: string | undefined, held: string | null): string {
  const token = bodyToken ?? held;
  if (token !== null && token !== '') return token;
  throw new PlatformError(
    'INVALID_PAYLOAD',
    bodyToken === undefined
      ? 'There is no refresh token, neither in the body nor in a cookie: the session has ended, or none was begun.'
      : 'The refresh token is empty.',
  );
}

/** Address that a link is to lead to; null when none is named. Throws INVALID_PAYLOAD where that is not allowed. */
export function linkOf(
  name: 'reset_url' | 'invite_url',
  text: string | undefined,
  allowed: readonly string[],
): URL | null {
  if (text === undefined) return null;
  const url = allowedUrl(text, allowed);
  if (url !== null) return url;
  const list = name === 'reset_url' ? 'PASSWORD_RESET_URL_ALLOW_LIST' : 'USER_INVITE_URL_ALLOW_LIST';
  throw new PlatformError('INVALID_PAYLOAD', `"${name}" is not allowed by ${list}.`);
}

type ArrivalOutput = OutputOf<(typeof ssoResource)['operations']['authLoginCallback']>;

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
    async authLoginProvider({ redirect = null, invitation = null }) {
      const departure = await way.depart(redirect, invitation);
      if ('error' in departure) {
        return { value: undefined, location: withReason(departure.redirect, departure.error) };
      }
      return { value: undefined, location: departure.location, headers: ['Set-Cookie', cookie.set(departure.cookie)] };
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

/** Tokens of a session, with the refresh token in the body or in a cookie. Source: API specification, section 2.3. */
function tokensResult(
  { accessToken, refreshToken }: TokenPair,
  mode: 'json' | 'cookie',
  expires: number,
  cookie: RefreshCookie,
): OperationResult<OutputOf<(typeof authResource)['operations']['authLogin']>> {
  const shown = { access_token: accessToken, expires };
  return mode === 'cookie'
    ? { value: shown, headers: cookie.set(refreshToken) }
    : { value: { ...shown, refresh_token: refreshToken } };
}
