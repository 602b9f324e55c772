import type { TokenPair } from '../auth/token-pair.ts';
import type { Environment } from '../environment.ts';
import { type Answerer, type Exchange, mediaTypes } from './answer.ts';
import type { RefreshCookie } from './refresh-cookie.ts';

/** Where the refresh token of an answer is: in the body, or in a cookie. */
export type Mode = 'json' | 'cookie';

/** Answers with the tokens of a session; `headers` are more of them. Source: API specification, section 2.3. */
export type SendPair = (exchange: Exchange, pair: TokenPair, mode: Mode, headers?: readonly string[]) => void;

/** Makes it. */
export function createPairSender(answerer: Answerer, environment: Environment, cookie: RefreshCookie): SendPair {
  const expires = environment.auth.accessTokenTtl;
  return function sendPair(exchange, { accessToken, refreshToken }, mode, more = []) {
    const shown = { access_token: accessToken, expires };
    const data = mode === 'cookie' ? shown : { ...shown, refresh_token: refreshToken };
    const headers = mode === 'cookie' ? [...cookie.set(refreshToken), ...more] : more;
    const body = Buffer.from(JSON.stringify({ data }));
    answerer.send(exchange, { status: 200, type: mediaTypes.json, body, headers });
  };
}
