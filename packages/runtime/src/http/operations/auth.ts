/** Signing in and out, and passwords by mail. Source: API specification, sections 2.3 to 2.7. */
import type { Accounts } from '../../auth/accounts.ts';
import { clientOf } from '../../auth/ip-access.ts';
import type { Environment } from '../../environment.ts';
import { PlatformError } from '../../errors.ts';
import type { authResource, passwordResource } from '../../language/operations/index.ts';
import { allowedUrl } from '../../mail/allowed-url.ts';
import { tokensResult } from '../auth/pair-answer.ts';
import { createRefreshCookie } from '../auth/refresh-cookie.ts';
import { done, type Implementations } from './bind.ts';

/** Sessions. */
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

/** Forgotten passwords. */
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

/** The token in the body takes precedence over the cookie. */
function presented(bodyToken: string | undefined, held: string | null): string {
  const token = bodyToken ?? held;
  if (token === null || token === '') throw new PlatformError('INVALID_PAYLOAD', 'There is no refresh token.');
  return token;
}

/** Where a link is to lead; null when nothing is said. Throws INVALID_PAYLOAD where that is not allowed. */
export function linkOf(name: string, text: string | undefined, allowed: readonly string[]): URL | null {
  if (text === undefined) return null;
  const url = allowedUrl(text, allowed);
  if (url === null) throw new PlatformError('INVALID_PAYLOAD', `"${name}" is not allowed.`);
  return url;
}
