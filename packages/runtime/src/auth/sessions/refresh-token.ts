/** Refresh tokens: random texts of which only the hash is kept. Source: API specification, section 2.2. */
import { hash, randomBytes } from 'node:crypto';

/** A token that was just made; `hash` is the stored form. */
export interface RefreshToken {
  readonly token: string;
  readonly hash: string;
}

/** Makes a token of 256 random bits. */
export function makeRefreshToken(): RefreshToken {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashRefreshToken(token) };
}

/** SHA-256 of a token as a client presents it, hexadecimal. */
export function hashRefreshToken(token: string): string {
  return hash('sha256', token);
}
