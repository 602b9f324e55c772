import { hash } from 'node:crypto';

/** SHA-256 of a text as UTF-8, hexadecimal. */
export function sha256(text: string): string {
  return hash('sha256', text);
}

/** Six hexadecimal digits that depend on nothing but the text: told apart by them, names stay the same for ever. */
export function shortHash(text: string): string {
  return sha256(text).slice(0, 6);
}
