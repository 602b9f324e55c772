/**
 * Contents without a file. A content is noted before it is stored, and the note is removed in the transaction that
 * makes a row name it. When the row is deleted, the same transaction notes the content again. If a process dies in
 * between, the next process removes contents that are noted and due, and never any others.
 */

import type { Database, Transaction } from '../database/database.ts';
import { allRows, firstRow } from '../database/own-statements/own-rows.ts';
import { createScript, type OwnSql, requireRow, returnRows } from '../database/own-statements/script.ts';
import { byFamily } from '../dialects/by-family.ts';
import { transactionNumber } from '../dialects/fragment.ts';
import type { MysqlTables } from '../dialects/mysql/own-tables/tables.ts';
import { describeCause, type Log } from '../operate/log.ts';
import type { SystemPlace } from '../system/place.ts';
import { purgeStaging } from './staging.ts';
import type { Storages } from './storage.ts';

/** Where a content lies. */
export interface StoredContent {
  readonly storage: string;
  readonly name: string;
}

/** Keeps account of contents that belong to no file, and removes them. */
export interface LooseFiles {
  /** Contents that are about to be put down, and stay when a row names them within a quarter of an hour. */
  note(contents: readonly StoredContent[]): Promise<void>;
  /** No row will name them: removes them soon. Never rejects. */
  release(contents: readonly StoredContent[]): Promise<void>;
  /** Something is due: removes it soon. */
  wake(): void;
  /** Stops looking, and resolves when nothing is under way. */
  close(): Promise<void>;
}

/** Options of the removal. */
export interface LooseFilesOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly place: SystemPlace;
  readonly storages: Storages;
  readonly log: Pick<Log, 'warn'>;
}

/** Interval between checks for contents that other processes have left, in milliseconds. */
const lookEveryMs = 60_000;
const purgeEveryMs = 3_600_000;

/** Makes them. Nothing is looked for before `wake` is called first, or a minute has passed. */
export function createLooseFiles({ database, place: location, storages, log }: LooseFilesOptions): LooseFiles {
  const texts = statements(location);
  let closed = false;
  let again = false;
  let swept = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;

  /** Runs a statement; returns the columns after the number of the transaction, undefined if there is no row. */
  function run(text: OwnSql, values: readonly string[]): Promise<readonly (string | null)[] | undefined> {
    return database.transaction(async (transaction) => {
      const [number = null, ...rest] = (await firstRow(transaction, text, values)) ?? [];
      if (number === null) return { value: undefined };
      transaction.identify(number);
      return { value: rest };
    });
  }

  /** Removes one content; false when none is due. */
  async function removeOne(): Promise<boolean> {
    const row = await run(texts.claim, []);
    if (row === undefined) return false;
    const [id = '', storage = '', name = '', used = ''] = row.map((column) => column ?? '');
    try {
      if (used !== 'true') await storages.of(storage).remove(name);
      await run(texts.forget, [id]);
    } catch (error) {
      log.warn({ storage, name, cause: describeCause(error) }, 'A content that belongs to no file is removed later.');
    }
    return true;
  }

  async function removeAll(): Promise<void> {
    if (performance.now() - swept >= purgeEveryMs) {
      swept = performance.now();
      for (const folder of storages.stagings) await purgeStaging(folder);
    }
    do {
      again = false;
      while (!closed && (await removeOne()));
    } while (again && !closed);
  }

  function look(): void {
    if (closed) return;
    again = true;
    running ??= removeAll()
      // The database is away; the notes stay in it.
      .catch(() => undefined)
      .finally(() => {
        running = undefined;
      });
  }

  const timer = setInterval(look, lookEveryMs).unref();
  return {
    async note(contents) {
      await run(texts.note, listed(contents));
    },
    async release(contents) {
      await run(texts.release, listed(contents)).catch(() => undefined);
      look();
    },
    wake: () => void setImmediate(look),
    async close() {
      closed = true;
      clearInterval(timer);
      await running;
    },
  };
}

/** Steps for system hooks, in the transactions that write rows. */
export interface LooseFileSteps {
  /** Rows name these contents now. False when one of them is gone, or about to be. */
  claim(transaction: Transaction, contents: readonly StoredContent[]): Promise<boolean>;
  /** Rows will not name these contents any more. */
  leave(transaction: Transaction, contents: readonly StoredContent[]): Promise<void>;
}

/** Makes the steps. */
export function looseFileSteps(location: SystemPlace): LooseFileSteps {
  const texts = statements(location);
  return {
    async claim(transaction, contents) {
      const rows = await allRows(transaction, texts.take, listed(contents));
      const [number] = rows[0] ?? [];
      if (typeof number === 'string') transaction.identify(number);
      return rows.length === contents.length;
    },
    async leave(transaction, contents) {
      const row = await firstRow(transaction, texts.leave, listed(contents));
      if (row?.[0]) transaction.identify(row[0]);
    },
  };
}

/** Makes the function that counts the contents that should be gone. */
export function orphanCounter(database: Pick<Database, 'query'>, location: SystemPlace): () => Promise<number> {
  const text = byFamily(location, {
    postgres: (schema) => `SELECT pg_catalog.count(*)::text FROM ${schema}.platform_loose_files
WHERE due_at <= pg_catalog.statement_timestamp() OR attempts > 0`,
    mysql: ({ table }) => `SELECT CAST(COUNT(*) AS CHAR) FROM ${table('platform_loose_files')}
WHERE due_at <= NOW(6) OR attempts > 0`,
  });
  return async () => Number((await database.query(text, []))[0]?.[0]);
}

function listed(contents: readonly StoredContent[]): readonly string[] {
  return [JSON.stringify(contents)];
}

type Statements = Readonly<Record<keyof ReturnType<typeof postgresStatements>, OwnSql>>;

function statements(location: SystemPlace): Statements {
  return byFamily<Statements>(location, { postgres: postgresStatements, mysql: mysqlStatements });
}

function mysqlStatements({ table, exactly, lock, text }: MysqlTables): Statements {
  const loose = table('platform_loose_files');
  const type = text('VARCHAR(255)');
  const contents = `JSON_TABLE($1, '$[*]' COLUMNS (storage ${type} PATH '$.storage', name ${type} PATH '$.name')) AS c`;
  const same = `l.storage = ${exactly('c.storage')} AND l.filename_disk = ${exactly('c.name')}`;
  const insert = (due: string): string =>
    `INSERT INTO ${loose} (storage, filename_disk, due_at) SELECT c.storage, c.name, ${due} FROM ${contents}`;
  return {
    note: createScript(insert('NOW(6) + INTERVAL 15 MINUTE')),
    leave: createScript(insert('NOW(6)')),
    take: createScript(
      returnRows(`SELECT '1' FROM ${loose} AS l JOIN ${contents} ON ${same} WHERE l.attempts = 0${lock('l')}`),
      `DELETE l FROM ${loose} AS l JOIN ${contents} ON ${same} WHERE l.attempts = 0`,
    ),
    release: createScript(`UPDATE ${loose} AS l JOIN ${contents} ON ${same} SET l.due_at = NOW(6)`),
    claim: createScript(
      requireRow(
        `SELECT CAST(l.id AS CHAR), l.storage, l.filename_disk FROM ${loose} AS l
WHERE l.due_at <= NOW(6) ORDER BY l.due_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
        ['id', 'storage', 'name'],
      ),
      `UPDATE ${loose} SET due_at = NOW(6) + INTERVAL LEAST(60, POW(2, LEAST(attempts, 10))) MINUTE,
  attempts = attempts + 1 WHERE id = $id`,
      returnRows(`SELECT '1', $id, $storage, $name, IF(EXISTS (
  SELECT 1 FROM ${table('platform_files')} AS f WHERE f.storage = $storage AND f.filename_disk = $name
), 'true', 'false')`),
    ),
    forget: createScript(requireRow(`DELETE FROM ${loose} WHERE id = $1`)),
  };
}

function postgresStatements(schema: string) {
  const table = `${schema}.platform_loose_files`;
  const now = 'pg_catalog.statement_timestamp()';
  const contents = 'pg_catalog.json_to_recordset($1::json) AS c(storage text, name text)';
  const same = 'l.storage = c.storage AND l.filename_disk = c.name';
  const insert = (due: string): string => `WITH noted AS (
  INSERT INTO ${table} (storage, filename_disk, due_at) SELECT c.storage, c.name, ${due} FROM ${contents} RETURNING 1
) SELECT ${transactionNumber} FROM noted LIMIT 1`;
  return {
    note: insert(`${now} + pg_catalog.interval '15 minutes'`),
    leave: insert(now),
    take: `DELETE FROM ${table} AS l USING ${contents} WHERE ${same} AND l.attempts = 0 RETURNING ${transactionNumber}`,
    release: `WITH released AS (
  UPDATE ${table} AS l SET due_at = ${now} FROM ${contents} WHERE ${same} RETURNING 1
) SELECT ${transactionNumber} FROM released LIMIT 1`,
    // A process that claims a content has until its next time to remove it.
    claim: `UPDATE ${table} AS l SET attempts = attempts + 1,
  due_at = ${now} + LEAST(60, 2 ^ LEAST(attempts, 10)) * pg_catalog.interval '1 minute'
WHERE id = (SELECT id FROM ${table} WHERE due_at <= ${now} ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING ${transactionNumber}, l.id::text, l.storage::text, l.filename_disk::text, (EXISTS (
  SELECT FROM ${schema}.platform_files AS f WHERE f.storage = l.storage AND f.filename_disk = l.filename_disk
))::text`,
    forget: `DELETE FROM ${table} WHERE id = $1::pg_catalog.int8 RETURNING ${transactionNumber}`,
  };
}
