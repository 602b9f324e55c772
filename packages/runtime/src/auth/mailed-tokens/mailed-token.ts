/**
 * Tokens that are mailed and work once. The database keeps a hash of a token's key. Mails that wait to be sent contain
 * the key, from which a token cannot be made without SECRET. Source: API specification, sections 2.2, 2.6 and 3.3.
 */
import { randomBytes } from 'node:crypto';
import type { Tokens } from '../sessions/tokens.ts';

/** Purpose of a mailed token. */
export type MailedKind = 'invite' | 'password_reset';

/** Claims of a mailed token. */
export interface MailedToken {
  /** Key of the user. */
  readonly user: string;
  /** Key that tells this token from all others. */
  readonly key: string;
  /** A hash of the user's password at the time when the token was asked for. */
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

/** Reads a token that a client has sent. Throws INVALID_TOKEN or TOKEN_EXPIRED. */
export function readMailed(tokens: Tokens, kind: MailedKind, token: string): MailedToken {
  const { id, key, proof } = tokens.verify(kind, token).claims;
  return { user: String(id), key: String(key), proof: String(proof) };
}
