/** The kinds of signed tokens, and a key for each. Source: API specification, section 2.2. */
import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/** Every kind of signed token. None is taken for another: key, `typ` and `aud` are its own. */
export const tokenKinds = ['access', 'invite', 'password_reset', 'oauth_state'] as const;

/** One of them. */
export type TokenKind = (typeof tokenKinds)[number];

/** Properties that tell a kind of token from the others, in the token and outside of it. */
export interface KindOfToken {
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
