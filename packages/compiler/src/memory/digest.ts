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
  const known = digests.get(value);
  if (known !== undefined) return known;
  const digest = `#${isList(value) ? shorten(serialize(value)) : digestOfAll(Object.entries(value).flat())}`;
  digests.set(value, digest);
  return digest;
}

/** One digest of several values. */
export function digestOfAll(values: readonly unknown[]): string {
  return shorten(JSON.stringify(values.map(digestOf)));
}

const digests = new WeakMap<object, string>();

function isList(value: object): boolean {
  return Array.isArray(value) || value instanceof Set;
}

/** 144 bits. */
function shorten(content: string | Buffer): string {
  return hash('sha256', content, 'base64').slice(0, 24);
}
