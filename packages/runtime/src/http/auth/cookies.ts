/** Cookies of browsers: the one that holds a refresh token, and the one of users who are at a provider of single sign-on. */
import type { IncomingMessage } from 'node:http';
import type { Environment } from '../../environment.ts';
import { PlatformError } from '../../errors.ts';

/** Reads and writes the cookie as one environment has it. */
export type RefreshCookie = ReturnType<typeof createRefreshCookie>;

export function createRefreshCookie(environment: Environment) {
  const { cookie, refreshTokenTtl } = environment.auth;
  const attributes = cookieAttributes(cookie);
  const header = (value: string, maxAge: number): readonly string[] => [
    'Set-Cookie',
    [`${cookie.name}=${value}`, ...attributes, `Max-Age=${maxAge}`].join('; '),
  ];
  return {
    /** The token in the cookie of a request, null without one. Throws FORBIDDEN for a page that may not use it. */
    read(request: IncomingMessage): string | null {
      const token = findCookie(request.headers.cookie, cookie.name);
      if (token !== null && !isFromAllowedPage(request, environment)) throw new PlatformError('FORBIDDEN');
      return token;
    },
    /** The header that sets it, as a flat list of name and value. */
    set: (token: string): readonly string[] => header(token, Math.floor(refreshTokenTtl / 1000)),
    /** The header that removes it. */
    clear: (): readonly string[] => header('', 0),
  };
}

/** Attributes of the cookies of a session, apart from their age. */
export function cookieAttributes({ domain, secure, sameSite }: Environment['auth']['cookie']): readonly string[] {
  return [
    ...(domain === null ? [] : [`Domain=${domain}`]),
    'Path=/',
    'HttpOnly',
    ...(secure ? ['Secure'] : []),
    `SameSite=${sameSites[sameSite]}`,
  ];
}

const sameSites = { strict: 'Strict', lax: 'Lax', none: 'None' } as const;

/**
 * Browsers say where a request comes from. A page of an allowed origin may lie on another site. Without an origin the
 * request comes from the address bar or from no browser, unless it says that its site is another one.
 */
function isFromAllowedPage({ headers }: IncomingMessage, { publicUrl, cors }: Environment): boolean {
  const { origin, host = '' } = headers;
  if (origin === undefined) return headers['sec-fetch-site'] !== 'cross-site';
  if (cors?.credentials === true && origin !== '*' && cors.origins.includes(origin)) return true;
  if (publicUrl !== null) return origin === new URL(publicUrl).origin;
  return URL.parse(origin)?.host === host.toLowerCase() && headers['sec-fetch-site'] !== 'cross-site';
}

/** Seconds that browsers keep it: longer than the state counts, so that a late return still has its page, and its reason. */
const stateCookieAge = 3600;

/** Makes it: no other host can set it (`__Host-`), and it comes with a form of a provider (`SameSite=None`). */
export function createStateCookie(provider: string, secure: boolean) {
  const name = `${secure ? '__Host-' : ''}platform_oauth_state_${provider}`;
  const attributes = `Path=/; HttpOnly; ${secure ? 'Secure; SameSite=None' : 'SameSite=Lax'}`;
  const header = (value: string, maxAge: number): string => `${name}=${value}; ${attributes}; Max-Age=${maxAge}`;
  return {
    /** Its content; null without a cookie. */
    read: ({ headers }: IncomingMessage): string | null => findCookie(headers.cookie, name),
    set: (value: string): string => header(value, stateCookieAge),
    /** The value of the header that removes it. */
    clear: (): string => header('', 0),
  };
}

/** The first cookie of that name in the header of a request; an empty one is none. */
export function findCookie(header: string | undefined, name: string): string | null {
  for (const part of header?.split(';') ?? []) {
    const equals = part.indexOf('=');
    if (equals === -1 || part.slice(0, equals).trim() !== name) continue;
    const value = part.slice(equals + 1).trim();
    return value === '' ? null : value;
  }
  return null;
}
