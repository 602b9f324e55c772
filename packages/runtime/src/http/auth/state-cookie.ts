/** Cookie of a browser while its user is at a provider of single sign-on. Source: API specification, section 2.8. */
import type { IncomingMessage } from 'node:http';
import { stateTtl } from '../../auth/sso/state.ts';
import { findCookie } from './find-cookie.ts';

/** Reads and writes the cookie of one provider. */
export interface StateCookie {
  /** Its content; null without a cookie. */
  read(request: IncomingMessage): string | null;
  /** The value of the header that sets it. */
  set(value: string): string;
  /** The value of the header that removes it. */
  clear(): string;
}

/**
 * Makes it. Over TLS no other host can set one in our name (`__Host-`). It comes along when a provider has the browser
 * POST a form, which is a request of another site (`SameSite=None`).
 */
export function createStateCookie(provider: string, secure: boolean): StateCookie {
  const name = `${secure ? '__Host-' : ''}platform_oauth_state_${provider}`;
  const attributes = `Path=/; HttpOnly; ${secure ? 'Secure; SameSite=None' : 'SameSite=Lax'}`;
  const header = (value: string, maxAge: number): string => `${name}=${value}; ${attributes}; Max-Age=${maxAge}`;
  return {
    read: ({ headers }) => findCookie(headers.cookie, name),
    set: (value) => header(value, stateTtl / 1000),
    clear: () => header('', 0),
  };
}
