/** Paths and query strings of request targets, as they were sent. Source: API specification, section 1.1. */
import { invalidQuery } from '../../errors.ts';
import { reservedPrefix, systemCollections } from '../../language/index.ts';

/**
 * A path below `/items`, or of a collection of the platform, `/users`. Its collection is decoded, and empty for a name
 * of the platform's own. Its key is as it was sent (composite keys are split before they are decoded).
 */
export interface ItemPath {
  readonly collection: string;
  /** Null on the path of the whole collection. */
  readonly key: string | null;
}

/** Splits a request target. A fragment, which no client may send, stays in the path, where nothing matches it. */
export function splitTarget(url: string) {
  const separator = url.indexOf('?');
  return separator === -1
    ? { path: url, query: '' }
    : { path: url.slice(0, separator), query: url.slice(separator + 1) };
}

/** Reads `/items/<collection>` or `/items/<collection>/<key>` exactly; null for other paths, fragments, and names or keys that do not decode. */
export function readItemPath(path: string): ItemPath | null {
  if (path.includes('#')) return null;
  if (!path.startsWith('/items/')) return readOwnPath(path);
  const slash = path.indexOf('/', 7);
  const collection = decodeSegment(slash === -1 ? path.slice(7) : path.slice(7, slash));
  if (collection === null || collection === '') return null;
  if (slash === -1) return { collection: itemsName(collection), key: null };
  const key = path.slice(slash + 1);
  const decoded = decodeSegment(key);
  return key.includes('/') || decoded === null || decoded === '' ? null : { collection: itemsName(collection), key };
}

/** Reads `/users` or `/users/<key>`, and so on. */
function readOwnPath(path: string): ItemPath | null {
  const slash = path.indexOf('/', 1);
  const collection = ownPaths.get(slash === -1 ? path : path.slice(0, slash));
  if (collection === undefined) return null;
  if (slash === -1) return { collection, key: null };
  const key = path.slice(slash + 1);
  const decoded = decodeSegment(key);
  return key.includes('/') || decoded === null || decoded === '' ? null : { collection, key };
}

const ownPaths: ReadonlyMap<string, string> = new Map(
  systemCollections.flatMap(({ name, path }) => (path === undefined ? [] : [[path, name] as const])),
);

/**
 * Name to look up. Collections of the platform have routes of their own, so below `/items` their names become an empty
 * one, which no collection has. The answer is as if they did not exist (section 4), even to callers who may read them.
 */
function itemsName(collection: string): string {
  return collection.startsWith(reservedPrefix) ? '' : collection;
}

/**
 * Reads a path by a pattern, `/reports/:year`: the decoded texts of its parameters, null for a path of another form. As
 * below `/items` nothing is forgiven: neither a trailing slash nor another spelling of a fixed part.
 */
export function readPathTexts(pattern: string, path: string): ReadonlyMap<string, readonly string[]> | null {
  const requested = pattern.split('/');
  const sent = path.split('/');
  if (requested.length !== sent.length || path.includes('#')) return null;
  const texts = new Map<string, readonly string[]>();
  for (const [index, part] of requested.entries()) {
    const segment = sent[index] ?? '';
    const text = part.startsWith(':') ? decodeSegment(segment) : null;
    if (text === null ? part !== segment : text === '') return null;
    if (text !== null) texts.set(part.slice(1), [text]);
  }
  return texts;
}

/** True if a path is a route of its own or lies below it: `/auth` and `/auth/login`, not `/authors`. */
export function liesUnder(path: string, route: string): boolean {
  return path.startsWith(route) && (path.length === route.length || path[route.length] === '/');
}

export function decodeQueryText(text: string): string {
  if (!text.includes('%')) return text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalidQuery('The query string is not percent-encoded UTF-8.');
  }
}

function decodeSegment(segment: string): string | null {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
