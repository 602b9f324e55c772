/**
 * Tokens that are mailed and work once. What the database keeps of one is a hash of its key; what waits to be mailed has
 * the key, of which nobody makes a token without SECRET. Source: API specification, sections 2.2, 2.6 and 3.3.
 */
import { randomBytes } from 'node:crypto';
import type { Tokens } from './tokens.ts';

/** What a mailed token is for. */
export type MailedKind = 'invite' | 'password_reset';

/** What a mailed token says. */
export interface MailedToken {
  /** Key of the user. */
  readonly user: string;
  /** What tells this token from all others. */
  readonly key: string;
  /** A hash of what the user's password was when the token was asked for. */
  readonly proof: string;
}

/** Makes the key of a token: 256 bits. */
export function makeMailedKey(): string {
  return randomBytes(32).toString('base64url');
}

/** Signs a token that is about to be mailed. */
export function signMailed(tokens: Tokens, kind: MailedKind, { user, key, proof }: MailedToken, ttlMs: number): string {
  return tokens.sign(kind, { id: user, key, proof }, ttlMs);
}

/** Reads a token that somebody has sent. Throws INVALID_TOKEN or TOKEN_EXPIRED. */
export function readMailed(tokens: Tokens, kind: MailedKind, token: string): MailedToken {
  const { id, key, proof } = tokens.verify(kind, token).claims;
  return { user: String(id), key: String(key), proof: String(proof) };
}
