/**
 * Contents without a file. A content is noted before it is stored, and the note is removed in the transaction that
 * makes a row name it. When the row is deleted, the same transaction notes the content again. If a process dies in
 * between, the next process removes contents that are noted and due, and never any others.
 */
import type { Database, Transaction } from '../database/database.ts';
import { createDueRows, type DueRows } from '../database/due-rows.ts';
import { allRows, identifiedRow, runAlone } from '../database/own-statements.ts';
import { ownTables } from '../dialects/index.ts';
import { fromRows, type Rows, rowsBeside } from '../dialects/own-tables.ts';
import { describeCause, type Log } from '../operate/log.ts';
import type { SystemPlace } from '../system/place.ts';
import { purgeStaging } from './staging.ts';
import type { Storages } from './storage.ts';

export interface StoredContent {
  readonly storage: string;
  readonly name: string;
}

/** Keeps account of contents that belong to no file, and removes them. */
export interface LooseFiles extends DueRows {
  /** Contents that are about to be put down, and stay when a row names them within a quarter of an hour. */
  note(contents: readonly StoredContent[]): Promise<void>;
  /** No row will name them: removes them soon. Never rejects. */
  release(contents: readonly StoredContent[]): Promise<void>;
}

interface LooseFilesOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly place: SystemPlace;
  readonly storages: Storages;
  readonly log: Pick<Log, 'warn'>;
}

const purgeEveryMs = 3_600_000;

/** Makes them. Nothing is looked for before `wake` is called first, or a minute has passed. */
export function createLooseFiles({ database, place: location, storages, log }: LooseFilesOptions): LooseFiles {
  const texts = statements(location);
  let purged = Number.NEGATIVE_INFINITY;

  async function purgeStagings(): Promise<void> {
    if (performance.now() - purged < purgeEveryMs) return;
    purged = performance.now();
    for (const folder of storages.stagings) await purgeStaging(folder);
  }

  /** Removes one content; false when none is due. */
  async function removeOne(): Promise<boolean> {
    await purgeStagings();
    const row = await runAlone(database, texts.claim, []);
    if (row === undefined) return false;
    const [id = '', storage = '', name = '', used = ''] = row.map((column) => column ?? '');
    try {
      if (used !== 'true') await storages.of(storage).remove(name);
      await runAlone(database, texts.forget, [id]);
    } catch (error) {
      log.warn({ storage, name, cause: describeCause(error) }, 'A content that belongs to no file is removed later.');
    }
    return true;
  }

  const rows = createDueRows(removeOne);
  return {
    ...rows,
    async note(contents) {
      await runAlone(database, texts.note, listed(contents));
    },
    async release(contents) {
      await runAlone(database, texts.release, listed(contents)).catch(() => undefined);
      rows.wake();
    },
  };
}

export function looseFileSteps(location: SystemPlace) {
  const texts = statements(location);
  return {
    /** Rows name these contents now. False when one of them is gone, or about to be. */
    async claim(transaction: Transaction, contents: readonly StoredContent[]): Promise<boolean> {
      const rows = await allRows(transaction, texts.take, listed(contents));
      const [number] = rows[0] ?? [];
      if (typeof number === 'string') transaction.identify(number);
      return rows.length === contents.length;
    },
    /** Rows will not name these contents any more. */
    async leave(transaction: Transaction, contents: readonly StoredContent[]): Promise<void> {
      await identifiedRow(transaction, texts.leave, listed(contents));
    },
  };
}

/** Makes the function that counts the contents that should be gone. */
export function orphanCounter(database: Pick<Database, 'query'>, location: SystemPlace): () => Promise<number> {
  const { table, text: textOf, now } = ownTables(location);
  const text = `SELECT ${textOf('COUNT(*)')} FROM ${table('platform_loose_files')} WHERE due_at <= ${now} OR attempts > 0`;
  return async () => Number((await database.query(text, []))[0]?.[0]);
}

function listed(contents: readonly StoredContent[]): readonly string[] {
  return [JSON.stringify(contents)];
}

function statements(location: SystemPlace) {
  const { table, now, shifted, text, flag, exactly, records, ...sql } = ownTables(location);
  const loose = table('platform_loose_files');
  const contents: Rows = { target: records('$1', ['storage', 'name'], 'c'), alias: 'c' };
  const same = `l.storage = ${exactly('c.storage')} AND l.filename_disk = ${exactly('c.name')}`;
  const noted = rowsBeside(`${loose} AS l`, 'l', contents, same);
  const unclaimed = { ...noted, where: 'l.attempts = 0' };
  const insert = (due: string) =>
    sql.write(
      `INSERT INTO ${loose} (storage, filename_disk, due_at) SELECT c.storage, c.name, ${due}${fromRows(contents)}`,
    );
  const used = `EXISTS (SELECT 1 FROM ${table('platform_files')} AS f
WHERE f.storage = l.storage AND f.filename_disk = l.filename_disk)`;
  return {
    note: insert(shifted(15, 'minute')),
    leave: insert(now),
    take: sql.writeReturning(unclaimed, [], sql.remove(unclaimed)),
    release: sql.write(sql.update(noted, { due_at: now })),
    claim: sql.claimDue('platform_loose_files', 'l', [
      ...['l.id', 'l.storage', 'l.filename_disk'].map(text),
      flag(used),
    ]),
    forget: sql.write(`DELETE FROM ${loose} WHERE id = $1::pg_catalog.int8`),
  };
}
