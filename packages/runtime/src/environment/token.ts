/** Forms of access tokens. Source: API specification, section 2.2. */
import { type Reader, secretAdvice } from './values.ts';

/** Bytes above which no token is looked at. */
export const longestToken = 8192;

/** True if a token is treated as a JSON web token: three base64url parts, the first of them a JSON object. */
export function isJwtShaped(token: string): boolean {
  const head = /^([\w-]+)\.[\w-]*\.[\w-]*$/.exec(token)?.[1];
  if (head === undefined) return false;
  try {
    const value: unknown = JSON.parse(Buffer.from(head, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** True if a token is too long to be read. */
export function isOversized(token: string): boolean {
  return token.length > longestToken;
}

/** Makes a reader of a token that a variable holds. */
export function readStaticToken(minLength: number): Reader<string> {
  return (text) => {
    if (!/^[\x21-\x7e]{1,4096}$/.test(text) || text.length < minLength) {
      return { problem: `must have at least ${minLength} characters, all of them visible ASCII: ${secretAdvice}` };
    }
    return isJwtShaped(text) ? { problem: 'must not have the form of a JSON web token.' } : { value: text };
  };
}
