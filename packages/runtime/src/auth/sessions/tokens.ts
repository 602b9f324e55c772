/**
 * Signed tokens: JSON web tokens by `jsonwebtoken`, of one algorithm. This file checks the properties that the library
 * leaves open: `typ`, other headers, the size, required claims and their types. Source: API specification, section 2.2.
 */
import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { longestToken } from '../../environment/secrets.ts';
import { PlatformError } from '../../errors.ts';

/** Claims of a token apart from issuer, purpose and expiry. */
type TokenClaims = Readonly<Record<string, string | boolean | null>>;

/** Claims of a verified token, with its last second as milliseconds of the epoch. */
interface VerifiedToken {
  readonly claims: Readonly<Record<string, unknown>>;
  readonly expiresAt: number;
}

export interface Tokens {
  /** Makes a token that is valid for at least so many milliseconds, and less than a second longer. */
  sign(kind: TokenKind, claims: TokenClaims, ttlMs: number): string;
  /** Reads a token of a kind. Throws INVALID_TOKEN unless we made it, TOKEN_EXPIRED if only its age is against it. */
  verify(kind: TokenKind, token: string): VerifiedToken;
  /** The same of a token that may have expired. */
  read(kind: TokenKind, token: string): VerifiedToken;
}

const issuer = 'platform';

const algorithm = 'HS256';

/** Difference that the clocks of two servers may have, in seconds. */
const clockTolerance = 60;

interface TokensOptions {
  /** Another secret whose tokens are valid; none is signed by it. Default: none. */
  readonly previous?: string | null;
  /** The clock, in milliseconds of the epoch. */
  readonly now?: () => number;
}

export function createTokens(secret: string, { previous = null, now = Date.now }: TokensOptions = {}): Tokens {
  const kinds = deriveKinds(secret);
  const previousKinds = previous === null ? null : deriveKinds(previous);

  function kindOf(kind: TokenKind, ofSecret: typeof kinds): KindOfToken {
    const found = ofSecret.get(kind);
    if (found === undefined) throw new Error(`There is no kind of token "${kind}".`);
    return found;
  }

  function read(kind: TokenKind, token: string): VerifiedToken {
    if (token.length > longestToken) throw new PlatformError('INVALID_TOKEN');
    if (previousKinds === null) return readBy(kindOf(kind, kinds), token);
    try {
      return readBy(kindOf(kind, kinds), token);
    } catch {
      return readBy(kindOf(kind, previousKinds), token);
    }
  }

  function readBy({ type, audience, key }: KindOfToken, token: string): VerifiedToken {
    const parts = parse(() =>
      jwt.verify(token, key, {
        algorithms: [algorithm],
        audience,
        issuer,
        complete: true,
        // An expired token must be right in everything else before it is called that.
        ignoreExpiration: true,
        clockTimestamp: Math.floor(now() / 1000),
      }),
    );
    const { iat, exp, ...claims } = claimsOf(parts.payload, token);
    // No other parameter has a meaning here; one that is critical, or names a key, least of all.
    if (parts.header.typ !== type || Object.keys(parts.header).length !== 2) throw new PlatformError('INVALID_TOKEN');
    if (!isTime(iat) || !isTime(exp)) throw new PlatformError('INVALID_TOKEN');
    if (iat > now() / 1000 + clockTolerance) throw new PlatformError('INVALID_TOKEN');
    return { claims, expiresAt: exp * 1000 };
  }

  return {
    sign(kind, claims, ttlMs) {
      const { type, audience, key } = kindOf(kind, kinds);
      const issuedAt = now();
      const times = { iat: Math.floor(issuedAt / 1000), exp: Math.ceil((issuedAt + ttlMs) / 1000) };
      const header = { alg: algorithm, typ: type } as const;
      return jwt.sign({ ...claims, ...times, iss: issuer, aud: audience }, key, { algorithm, header });
    },
    read,
    verify(kind, token) {
      const verified = read(kind, token);
      if (verified.expiresAt <= now()) throw new PlatformError('TOKEN_EXPIRED');
      return verified;
    },
  };
}

function parse<T>(verify: () => T): T {
  try {
    return verify();
  } catch (cause) {
    throw new PlatformError('INVALID_TOKEN', undefined, {}, { cause });
  }
}

/** The claims, when the token holds them in the one form in which we write them: a name never stands there twice. */
function claimsOf(payload: unknown, token: string): Readonly<Record<string, unknown>> {
  const written = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
  if (!isObject(payload) || JSON.stringify(payload) !== written) throw new PlatformError('INVALID_TOKEN');
  return payload;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whole seconds of the epoch within the years that a date can have. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 8_640_000_000_000;
}

/** Every kind of signed token. None is taken for another: key, `typ` and `aud` are its own. */
export const tokenKinds = ['access', 'invite', 'password_reset', 'oauth_state'] as const;

type TokenKind = (typeof tokenKinds)[number];

/** Properties that tell a kind of token from the others, in the token and outside of it. */
interface KindOfToken {
  /** Header `typ`. */
  readonly type: string;
  /** Claim `aud`. */
  readonly audience: string;
  readonly key: KeyObject;
}

const keyBytes = 32;

/** Derives the key of every kind from one secret (HKDF-SHA256), so that none gives away another. */
export function deriveKinds(secret: string): ReadonlyMap<TokenKind, KindOfToken> {
  return new Map(tokenKinds.map((kind) => [kind, describeKind(secret, kind)]));
}

function describeKind(secret: string, kind: TokenKind): KindOfToken {
  const name = `platform.${kind}`;
  const bytes = hkdfSync('sha256', secret, '', name, keyBytes);
  return { type: `${name}+jwt`, audience: name, key: createSecretKey(Buffer.from(bytes)) };
}
