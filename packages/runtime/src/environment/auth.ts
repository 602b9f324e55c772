/** Variables of sign-in, sessions and attempts. Source: API specification, section 16. */
import { isNetwork } from './networks.ts';
import { readProviders } from './providers.ts';
import {
  isEmail,
  longestEmail,
  type Need,
  type Read,
  type Reading,
  readBoolean,
  readChoice,
  readDuration,
  readDurationOrZero,
  readInteger,
  readListOf,
  readLongDuration,
  readMatching,
  secretAdvice,
} from './values.ts';

/** Settings of sign-in. Durations are milliseconds. */
export type AuthEnvironment = ReturnType<typeof readAuth>;

export interface CookieEnvironment {
  readonly name: string;
  readonly secure: boolean;
  readonly sameSite: 'strict' | 'lax' | 'none';
  /** Null: the host of the address alone. */
  readonly domain: string | null;
}

export type AttemptLimits = AuthEnvironment['limits'];

/** Reads the variables. `isLocal` is true if the server is reached by http on this machine only. */
export function readAuth(read: Read, requireVariable: Need, isLocal: boolean) {
  const passwordMinLength = read('PASSWORD_MIN_LENGTH', readInteger(1, 1024), 8);
  return {
    /** Secret from which every key is derived; null if none is set. */
    secret: read<string | null>('SECRET', readSecret, null),
    /** SECRET_PREVIOUS: secret before this one, whose tokens are still valid; null: there is none. */
    previousSecret: read<string | null>('SECRET_PREVIOUS', readSecret, null),
    accessTokenTtl: read('ACCESS_TOKEN_TTL', readDuration, 900_000),
    refreshTokenTtl: read('REFRESH_TOKEN_TTL', readLongDuration, 604_800_000),
    /** Age at which a session ends, however often it was refreshed. */
    sessionMaxTtl: read('SESSION_MAX_TTL', readLongDuration, 7_776_000_000),
    cookie: readCookie(read, isLocal),
    passwordMinLength,
    /** Earliest moment at which a failed sign-in is answered, from its beginning. */
    loginStallTime: read('LOGIN_STALL_TIME', readDurationOrZero, 500),
    /** True if sign-in by password is off. */
    disableDefault: read('AUTH_DISABLE_DEFAULT', readBoolean, false),
    providers: readProviders(read, requireVariable),
    /** Addresses and CIDR blocks of proxies; their statements about the client are trusted. */
    trustedProxies: read<readonly string[]>('IP_TRUST_PROXY', readNetworks, []),
    limits: {
      enabled: read('RATE_LIMITER_AUTH_ENABLED', readBoolean, true),
      /** The window in which attempts are counted. */
      duration: read('RATE_LIMITER_AUTH_DURATION', readDuration, 60_000),
      accountPoints: read('RATE_LIMITER_AUTH_ACCOUNT_POINTS', readInteger(1), 10),
      addressPoints: read('RATE_LIMITER_AUTH_ADDRESS_POINTS', readInteger(1), 60),
      /** Mails per named address and hour. */
      mailPoints: read('RATE_LIMITER_AUTH_MAIL_POINTS', readInteger(1), 5),
      /** Wrong one-time passwords per user and 30 seconds. */
      otpPoints: read('RATE_LIMITER_AUTH_OTP_POINTS', readInteger(1), 5),
    },
    /** The first administrator, made when there is no user. */
    administrator: {
      email: read('ADMIN_EMAIL', readEmail, 'admin@example.com'),
      password: read<string | null>('ADMIN_PASSWORD', readPassword(passwordMinLength), null),
    },
  } as const;
}

function readEmail(text: string): Reading<string> {
  return isEmail(text) && text.length <= longestEmail
    ? { value: text }
    : { problem: `must be an e-mail address of at most ${longestEmail} characters.` };
}

function readPassword(minLength: number) {
  return (text: string): Reading<string> => {
    // Every reader gets its text trimmed; the value is never repeated.
    return [...text].length >= minLength && Buffer.byteLength(text) <= 1024
      ? { value: text }
      : { problem: `must have at least ${minLength} characters and at most 1024 bytes.` };
  };
}

function readCookie(read: Read, isLocal: boolean): CookieEnvironment {
  const secure = read('REFRESH_TOKEN_COOKIE_SECURE', readBoolean, !isLocal);
  const domain = read<string | null>('REFRESH_TOKEN_COOKIE_DOMAIN', readDomain, null);
  return {
    secure,
    domain,
    name: read('REFRESH_TOKEN_COOKIE_NAME', readCookieName(secure, domain), 'platform_refresh_token'),
    sameSite: read('REFRESH_TOKEN_COOKIE_SAME_SITE', readSameSite(secure), 'lax'),
  };
}

function readSecret(text: string): Reading<string> {
  return Buffer.byteLength(text) >= 32 ? { value: text } : { problem: `must have at least 32 bytes: ${secretAdvice}` };
}

const readDomain = readMatching(/^\.?[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i, 'must be a domain such as "example.com".');

/** Browsers drop a cookie whose attributes do not fulfil the prefix of its name (RFC 6265bis, section 4.1.3). */
function readCookieName(secure: boolean, domain: string | null) {
  return (text: string): Reading<string> => {
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(text)) return { problem: 'must be a name as cookies have it.' };
    const host = text.toLowerCase().startsWith('__host-');
    if ((host || text.toLowerCase().startsWith('__secure-')) && !secure) {
      return { problem: 'begins with a prefix that needs REFRESH_TOKEN_COOKIE_SECURE.' };
    }
    return host && domain !== null
      ? { problem: 'begins with "__Host-", which allows no REFRESH_TOKEN_COOKIE_DOMAIN.' }
      : { value: text };
  };
}

function readSameSite(secure: boolean) {
  return (text: string): Reading<CookieEnvironment['sameSite']> => {
    const reading = readChoice(['strict', 'lax', 'none'])(text.toLowerCase());
    return 'value' in reading && reading.value === 'none' && !secure
      ? { problem: 'can be "none" only with REFRESH_TOKEN_COOKIE_SECURE.' }
      : reading;
  };
}

const readNetworks = readListOf(isNetwork, 'neither an address nor a CIDR block such as "10.0.0.0/8"');
