import type { TokenPair } from '../../auth/sessions/sessions.ts';
import type { authResource, OutputOf } from '../../language/operations/index.ts';
import type { OperationResult } from '../operations/bind.ts';
import type { RefreshCookie } from './refresh-cookie.ts';

/** Tokens of a session, with the refresh token in the body or in a cookie. Source: API specification, section 2.3. */
export function tokensResult(
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
