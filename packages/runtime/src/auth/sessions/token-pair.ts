import type { Account } from '../../users/account.ts';
import type { RefreshToken } from './refresh-token.ts';
import type { Tokens } from './tokens.ts';

/** Access token and refresh token of a session. */
export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Makes the tokens of a session. */
export type MakePair = (account: Account, session: string, refresh: RefreshToken) => TokenPair;

/** Makes the maker of pairs; `accessTokenTtl` is in milliseconds. Source: API specification, section 2.2. */
export function createPairs(tokens: Tokens, accessTokenTtl: number): MakePair {
  return function makePair({ id, role }, session, refresh) {
    const claims = {
      id,
      role: role?.id ?? null,
      app_access: role?.appAccess ?? false,
      admin_access: role?.adminAccess ?? false,
      sid: session,
    };
    return { accessToken: tokens.sign('access', claims, accessTokenTtl), refreshToken: refresh.token };
  };
}
