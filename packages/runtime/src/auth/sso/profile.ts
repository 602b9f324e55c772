/** Converts a provider's claims to the values of a user. */
import type { ProfileKeys } from '../../environment/providers.ts';
import { PlatformError } from '../../errors.ts';
import type { Claims } from './provider.ts';

/** Profile of a user at a provider. */
export interface Profile {
  /** The provider's permanent identifier of the user. */
  readonly identifier: string;
  readonly email: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
  /** JSON of everything plain that was said. */
  readonly data: string;
}

/** Characters of the longest identifier and of the longest name that a user has. */
const longestIdentifier = 255;
const longestName = 50;
/** Characters of JSON beyond which no more claims are kept. */
const maxDataBytes = 16_384;

/** Reads a profile. Throws INVALID_CREDENTIALS where it does not say who it is about. */
export function readProfile(claims: Claims, keys: ProfileKeys): Profile {
  const identifier = identifierOf(memberOf(claims, keys.identifier));
  if (identifier === null) {
    const cause = new Error(`The profile has no usable "${keys.identifier}".`);
    throw new PlatformError('INVALID_CREDENTIALS', undefined, {}, { cause });
  }
  return {
    identifier,
    email: textOf(memberOf(claims, keys.email)),
    firstName: nameOf(memberOf(claims, keys.firstName)),
    lastName: nameOf(memberOf(claims, keys.lastName)),
    data: dataOf(claims),
  };
}

function memberOf(claims: Claims, key: string): unknown {
  return Object.hasOwn(claims, key) ? claims[key] : undefined;
}

/** A number beyond the range of a double may stand for several. */
function identifierOf(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  const text = textOf(value);
  return text !== null && [...text].length <= longestIdentifier ? text : null;
}

function nameOf(value: unknown): string | null {
  const text = textOf(value);
  return text === null ? null : [...text].slice(0, longestName).join('');
}

/** A text that a database can keep; an empty one is none. */
function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && isKeepable(value) ? value : null;
}

function isKeepable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** JSON of texts, numbers, booleans and lists of them; deeper values are left out, as their depth is unbounded. */
function dataOf(claims: Claims): string {
  const kept: [string, unknown][] = [];
  let length = 2;
  for (const [name, value] of Object.entries(claims)) {
    if (!isKeepable(name) || !(isPlain(value) || (Array.isArray(value) && value.every(isPlain)))) continue;
    const size = JSON.stringify([name, value]).length;
    if (length + size > maxDataBytes) continue;
    length += size;
    kept.push([name, value]);
  }
  return JSON.stringify(Object.fromEntries(kept));
}

function isPlain(value: unknown): boolean {
  return typeof value === 'boolean' || typeof value === 'number' || (typeof value === 'string' && isKeepable(value));
}
