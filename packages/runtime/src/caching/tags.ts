/** Tags by which shared caches find answers again: they tell neither names nor keys. Source: scale-out notes, section 8. */
import { createHmac, hkdfSync } from 'node:crypto';

/** Tags of answers. Each has eight characters. */
export interface Tags {
  /** Tag of every answer. */
  readonly all: string;
  /** Tag of answers that any change may concern. */
  readonly any: string;
  /** Tag of answers that any change of a table concerns. */
  table(table: string): string;
  /** Tag of all answers that read one item of a table by its key. */
  items(table: string): string;
  /** Tag of answers that read that item. */
  item(table: string, key: string): string;
}

/**
 * Milliseconds from the begin of a read to its answer, after which it is not kept. Each purge is repeated later than that,
 * so that an answer from before a change cannot outlive the purges of it.
 */
export const longestKeptMs = 500;

const tagBytes = 6;

/** Makes the tags of a server; processes with the same secret have the same. */
export function createTags(secret: string): Tags {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'platform.cache', 32));
  const cached = new Map<string, string>();
  const print = (...parts: readonly string[]): string =>
    createHmac('sha256', key).update(JSON.stringify(parts)).digest().subarray(0, tagBytes).toString('base64url');
  const tableTag = (kind: string, table: string): string => {
    const name = `${kind} ${table}`;
    const tag = cached.get(name) ?? print(kind, table);
    cached.set(name, tag);
    return tag;
  };
  return {
    all: print('all'),
    any: print('any'),
    table: (table) => tableTag('table', table),
    items: (table) => tableTag('items', table),
    item: (table, text) => print('item', table, oneSpelling(text)),
  };
}

/** Integers and uuids have other spellings than the stored one. */
function oneSpelling(key: string): string {
  return /^[+-]?\d+$/.test(key) ? BigInt(key).toString() : key.toLowerCase();
}
