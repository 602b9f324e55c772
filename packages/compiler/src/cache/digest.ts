import { hash } from 'node:crypto';
import { serialize } from 'node:v8';

/**
 * A short text that is another one for every other value of plain data, sets among it. The same value may have two of them,
 * by what its parts have in common, which costs no more than making something again.
 *
 * That of an object is kept and made of those of its members, so what several objects have is looked at once.
 */
export function digestOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? `'${value}` : String(value);
  const cached = digests.get(value);
  if (cached !== undefined) return cached;
  const digest = `#${shorten(isList(value) ? listed(value) : membersOf(value))}`;
  digests.set(value, digest);
  return digest;
}

/** One digest of several values. */
export function digestOfAll(values: readonly unknown[]): string {
  let whole = '';
  for (const value of values) whole += part(digestOf(value));
  return shorten(whole);
}

/** A text in a row of texts that is no other row. */
function part(text: string): string {
  return `${text.length} ${text}`;
}

function membersOf(value: object): string {
  let whole = '';
  for (const [name, member] of Object.entries(value)) whole += part(name) + part(digestOf(member));
  return whole;
}

const digests = new WeakMap<object, string>();

function isList(value: object): boolean {
  return Array.isArray(value) || value instanceof Set;
}

/**
 * JSON, which the engine prints several times as fast as it serializes. JSON prints an empty object for a nested set:
 * where one stands, it may have been a set. NaN is printed as null, and plain data have none.
 */
function listed(value: object): string | Buffer {
  const isSet = value instanceof Set;
  const text = JSON.stringify(isSet ? [...value] : value);
  return text.includes('{}') ? serialize(value) : `${isSet ? 'set' : ''}${text}`;
}

/** 144 bits. */
function shorten(content: string | Buffer): string {
  return hash('sha256', content, 'base64').slice(0, 24);
}
