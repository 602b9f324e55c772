/**
 * The rows of a whole database, read and put back: so that the same write can be done twice from the same beginning, and
 * what both leave can be compared. Rows are the texts that PostgreSQL prints of them, which lose nothing.
 */
import { hash } from 'node:crypto';
import pg from 'pg';

/** Rows of every table by its name, in no order, and the state of every sequence. */
export interface DatabaseState {
  readonly tables: ReadonlyMap<string, readonly string[]>;
  readonly sequences: ReadonlyMap<string, string>;
}

/** Rows that are there in one state and not in the other, sorted, each with its table in front. */
export interface StateChange {
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** The key of a row: its table and column as SQL spells them, and the value as text. */
export interface StoredKey {
  readonly table: string;
  readonly column: string;
  readonly value: string;
}

/** Reads and restores one database. */
export interface StateKeeper {
  read(): Promise<DatabaseState>;
  /** Whether there is a row. */
  holds(key: StoredKey): Promise<boolean>;
  /** Makes the rows and sequences of `now` those of an earlier state: no trigger runs, and no constraint of foreign keys. */
  restore(state: DatabaseState, now: DatabaseState): Promise<void>;
  close(): Promise<void>;
}

/** Connects as a superuser. */
export async function keepState(url: string): Promise<StateKeeper> {
  const client = new pg.Client({ connectionString: url });
  // The database may be dropped before whoever keeps its state.
  client.on('error', () => {});
  await client.connect();
  await client.query(`SET TimeZone = 'UTC'; SET lock_timeout = '10s'`);

  /** Statements are planned once: for dozens of tables that takes longer than to read them. */
  function ask<Row extends pg.QueryResultRow>(text: string): Promise<pg.QueryResult<Row>> {
    return client.query<Row>({ name: hash('md5', text), text });
  }

  async function read(): Promise<DatabaseState> {
    const { rows: relations } = await ask<{ name: string; sequence: boolean }>(listSql);
    const names = (sequence: boolean) => relations.filter((one) => one.sequence === sequence).map(({ name }) => name);
    const parts = [
      ...names(false).map((name) => [
        name,
        `SELECT coalesce(array_agg("a row"::text), '{}') FROM ONLY ${name} "a row"`,
      ]),
      ...names(true).map((name) => [name, `SELECT ARRAY[last_value::text, is_called::text] FROM ${name}`]),
    ];
    if (parts.length === 0) return { tables: new Map(), sequences: new Map() };
    const text = parts.map(([, sql], place) => `SELECT ${place} AS place, (${sql}) AS of`).join(' UNION ALL ');
    const { rows } = await ask<{ place: number; of: readonly string[] }>(text);
    const found = new Map(rows.map(({ place, of }) => [parts[place]?.[0] ?? '', of]));
    return {
      tables: new Map(names(false).map((name) => [name, found.get(name) ?? []])),
      sequences: new Map(names(true).map((name) => [name, found.get(name)?.join(' ') ?? ''])),
    };
  }

  async function restore(state: DatabaseState, now: DatabaseState): Promise<void> {
    await client.query('BEGIN; SET LOCAL session_replication_role = replica');
    for (const [name, rows] of state.tables) {
      const [before, after] = [countEach(rows), countEach(now.tables.get(name) ?? [])];
      const others = [...new Set([...before.keys(), ...after.keys()])].filter(
        (row) => before.get(row) !== after.get(row),
      );
      if (others.length === 0) continue;
      await client.query(`DELETE FROM ONLY ${name} "a row" WHERE "a row"::text = ANY ($1::text[])`, [others]);
      const lost = others.flatMap((row) => Array.from({ length: before.get(row) ?? 0 }, () => row));
      if (lost.length === 0) continue;
      const { rows: columns } = await client.query<{ name: string }>(columnsSql, [name]);
      const listed = columns.map((column) => column.name);
      const values = listed.map((column) => `(it).${column}`).join(', ');
      await client.query(
        `INSERT INTO ${name} (${listed.join(', ')}) OVERRIDING SYSTEM VALUE SELECT ${values} FROM (SELECT of::${name} AS it FROM unnest($1::text[]) of) lost`,
        [lost],
      );
    }
    for (const [name, value] of state.sequences) {
      const [last, called] = value.split(' ');
      if (now.sequences.get(name) !== value)
        await client.query('SELECT setval($1::regclass, $2, $3)', [name, last, called]);
    }
    await client.query('COMMIT');
  }

  async function holds({ table, column, value }: StoredKey): Promise<boolean> {
    const { rows } = await client.query(`SELECT 1 FROM ${table} WHERE ${column}::text = $1`, [value]);
    return rows.length > 0;
  }

  return { read, holds, restore, close: () => client.end() };
}

/** What lies between two states. */
export function changeBetween(before: DatabaseState, after: DatabaseState): StateChange {
  const names = [...new Set([...before.tables.keys(), ...after.tables.keys()])];
  const missing = (from: DatabaseState, there: DatabaseState): readonly string[] =>
    names
      .flatMap((name) => {
        const rows = countEach(there.tables.get(name) ?? []);
        return (from.tables.get(name) ?? []).flatMap((row) => {
          const left = rows.get(row) ?? 0;
          rows.set(row, left - 1);
          return left > 0 ? [] : [`${name} ${row}`];
        });
      })
      .toSorted();
  return { removed: missing(before, after), added: missing(after, before) };
}

function countEach(rows: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row, (counts.get(row) ?? 0) + 1);
  return counts;
}

const listSql = `SELECT c.oid::regclass::text AS name, c.relkind = 'S' AS sequence
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'S') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' ORDER BY 1`;

const columnsSql = `SELECT quote_ident(attname) AS name FROM pg_attribute
  WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`;
