/** How the tables of a statement are read, told without running it. */
import { createConnection } from 'mysql2';
import type { TableAccess } from '../../../database/database.ts';
import { readRow, type TextRow } from '../../../database/own-statements.ts';
import type { SentParameter } from '../../../database/parameter-forms.ts';
import { connectionOptions } from './options.ts';
import { inTime, run } from './run.ts';
import { setUp } from './session.ts';

/** Milliseconds that connecting and the plan may take each, and seconds that a lock may. */
const timeoutMs = 2_000;
const lockSeconds = 1;

/**
 * Asks for the plan on a connection of its own. The server prints constants into it, so only names of tables and keys, the
 * ways and the counts of rows are taken. Rejects where there is none in time.
 */
export async function showPlan(
  url: string,
  isMariadb: boolean,
  text: string,
  parameters: readonly SentParameter[],
): Promise<readonly TableAccess[]> {
  const connection = createConnection({ ...connectionOptions(url), connectTimeout: timeoutMs });
  // Each statement reports the error to its caller.
  connection.on('error', () => undefined);
  const rows: TextRow[] = [];
  const sink = {
    row: (buffer: Buffer, offset: number, length: number) => void rows.push(readRow(buffer, offset, offset + length)),
  };
  try {
    await inTime(
      timeoutMs,
      new Promise<void>((resolve, reject) => {
        connection.connect((error) => (error ? reject(error) : resolve()));
      }),
    );
    setUp(connection, { isMariadb, statementTimeoutMs: timeoutMs });
    const locks = `lock_wait_timeout = ${lockSeconds}, innodb_lock_wait_timeout = ${lockSeconds}`;
    await inTime(
      timeoutMs,
      new Promise<void>((resolve, reject) => {
        connection.query(`SET SESSION ${locks}`, (error) => (error ? reject(error) : resolve()));
      }),
    );
    await inTime(timeoutMs, run(connection, `EXPLAIN FORMAT=JSON ${text}`, parameters, sink));
    return [...tablesIn(JSON.parse(rows[0]?.[0] ?? 'null'))];
  } finally {
    connection.destroy();
  }
}

/** Every object of the plan that reads a table. Names of the members differ between versions. */
function* tablesIn(plan: unknown): Generator<TableAccess> {
  if (typeof plan !== 'object' || plan === null) return;
  const members = new Map<string, unknown>(Object.entries(plan));
  const text = (name: string): string | undefined => {
    const value = members.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  const table = text('table_name');
  if (table !== undefined) {
    const rows = members.get('rows') ?? members.get('rows_examined_per_scan') ?? members.get('estimated_rows');
    yield {
      table,
      access: text('access_type'),
      key: text('key') ?? text('index_name'),
      rows: typeof rows === 'number' ? rows : undefined,
    };
  }
  for (const member of members.values()) yield* tablesIn(member);
}
