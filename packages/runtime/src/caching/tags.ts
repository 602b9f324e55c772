/** Tags by which shared caches find answers again: they tell neither names nor keys. Source: scale-out notes, section 8. */

import { createHmac, hkdfSync } from 'node:crypto';
import type { Database, NamedRows, Statement, TableChange, Transaction } from '../database/database.ts';
import type { CompiledApi } from '../language/index.ts';
import { derivedOnce, findOrCreate } from '../language/values/once.ts';

/** Tags of answers. Each has eight characters. */
export type Tags = ReturnType<typeof createTags>;

/** Milliseconds from the begin of a read to its answer, after which it is not kept: purges are repeated later. */
export const longestKeptMs = 500;

const tagBytes = 6;

/** Makes the tags of a server; processes with the same secret have the same. */
export function createTags(secret: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'platform.cache', 32));
  const cached = new Map<string, string>();
  const print = (...parts: readonly string[]): string =>
    createHmac('sha256', key).update(JSON.stringify(parts)).digest().subarray(0, tagBytes).toString('base64url');
  const tableTag = (kind: string, table: string): string =>
    findOrCreate(cached, `${kind} ${table}`, () => print(kind, table));
  return {
    all: print('all'),
    any: print('any'),
    /** Tag of answers that any change of a table concerns. */
    table: (table: string): string => tableTag('table', table),
    /** Tag of all answers that read one item of a table by its key. */
    items: (table: string): string => tableTag('items', table),
    /** Tag of answers that read that item. */
    item: (table: string, text: string): string => print('item', table, oneSpelling(text)),
  };
}

/** Integers and uuids have other spellings than the stored one. */
function oneSpelling(key: string): string {
  return /^[+-]?\d+$/.test(key) ? BigInt(key).toString() : key.toLowerCase();
}

/** Facts of one transaction. */
interface ChangeRecord {
  readonly changes: Map<string, TableChange>;
  readonly named: NamedRows[];
  /** True if a request did not tell which items it changes. */
  isOpen: boolean;
}

interface ChangeWatchOptions {
  readonly caching: NonNullable<CompiledApi['caching']>;
  readonly tags: Tags;
  /** Receives the tags after each transaction, also after one whose end is not known. */
  readonly changed: (tags: readonly string[]) => void;
}

/** A database whose transactions tell of their changes once they have ended. */
export function watchChanges(database: Database, { caching, tags, changed }: ChangeWatchOptions): Database {
  /** Requests that share a transaction know it by its identity, so that the same object gets other methods. */
  const watch = derivedOnce((transaction: Transaction): ChangeRecord => {
    const changeRecord: ChangeRecord = { changes: new Map(), named: [], isOpen: false };
    const send = transaction.run.bind(transaction);
    transaction.run = (statement, ...rest) => {
      for (const change of changesOf(statement)) changeRecord.changes.set(`${change.kind} ${change.table}`, change);
      return send(statement, ...rest);
    };
    transaction.names = (rows) => {
      if (rows === null) changeRecord.isOpen = true;
      else changeRecord.named.push(rows);
    };
    return changeRecord;
  });

  async function watched<T>(run: (watching: (transaction: Transaction) => void) => Promise<T>): Promise<T> {
    const seen = new Set<ChangeRecord>();
    try {
      return await run((transaction) => seen.add(watch(transaction)));
    } finally {
      const concerned = new Set([...seen].flatMap((changeRecord) => tagsOf(changeRecord, caching, tags)));
      if (concerned.size > 0) changed([...concerned]);
    }
  }

  return {
    ...database,
    transaction: (work) =>
      watched((watching) =>
        database.transaction((transaction) => {
          watching(transaction);
          return work(transaction);
        }),
      ),
    briefTransaction: (work, ...rest) =>
      watched((watching) =>
        database.briefTransaction(
          (transaction) => {
            watching(transaction);
            return work(transaction);
          },
          ...rest,
        ),
      ),
  };
}

/** A statement about tables that does not say what it changes counts as a change of all of them. */
function changesOf({ changes, tables = [], text }: Statement): readonly TableChange[] {
  if (changes !== undefined) return changes;
  return text.startsWith('SELECT') ? [] : tables.map((table) => ({ table, kind: 'update' as const }));
}

function tagsOf(
  { changes, named, isOpen }: ChangeRecord,
  caching: ChangeWatchOptions['caching'],
  tags: Tags,
): string[] {
  if (changes.size === 0) return [];
  const unbounded = new Set(caching.unbounded);
  const found = [tags.any];
  for (const { table, kind } of changes.values()) {
    const followers = (kind === 'delete' ? undefined : caching.keyCascades) ?? caching.cascades;
    const others = kind === 'delete' || kind === 'key' ? (followers[table] ?? []) : [];
    if (table === '*' || [table, ...others].some((name) => unbounded.has(name))) return [tags.all];
    found.push(tags.table(table), ...others.flatMap((name) => [tags.table(name), tags.items(name)]));
    if (kind === 'create') continue;
    const items = named.filter((rows) => rows.table === table);
    if (isOpen || items.length === 0) found.push(tags.items(table));
    else for (const { keys } of items) found.push(...keys.map((key) => tags.item(table, key)));
  }
  return found;
}
