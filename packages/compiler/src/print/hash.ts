import { createHash } from 'node:crypto';

/** SHA-256 of a text as UTF-8, hexadecimal. */
export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** Six hexadecimal digits that depend on nothing but the text: told apart by them, names stay the same for ever. */
export function shortHash(text: string): string {
  return sha256(text).slice(0, 6);
}
