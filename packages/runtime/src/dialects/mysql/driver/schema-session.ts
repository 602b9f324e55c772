/** A session of its own in which tables are changed: such statements commit by themselves, and take as long as they take. */
import { type Connection, createConnection, type ResultSetHeader, type RowDataPacket } from 'mysql2';
import { toDatabaseError } from '../../../database/errors.ts';
import type { MigrationConnection } from '../../../database/migration-connection.ts';
import { PlatformError } from '../../../errors.ts';
import { sessionNames } from '../texts.ts';
import { toMysqlError } from './errors.ts';
import { connectionOptions } from './options.ts';

/** How long a statement waits for a table that is in use, and for rows, in seconds; later statements queue after it. */
const timeoutMs = 5;

/** Names stand in backticks, so that conditions are reported as the compiler reads them. */
const settings = [
  "sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'",
  "time_zone = '+00:00'",
  'group_concat_max_len = 4294967295',
  `lock_wait_timeout = ${timeoutMs}`,
  `innodb_lock_wait_timeout = ${timeoutMs}`,
  sessionNames,
];

/**
 * Opens one, hands it to `work`, and closes it. Within, errors are those of the driver; a rejection of the work becomes
 * a `PlatformError`.
 */
export async function withSchemaSession<T>(
  url: string,
  work: (session: MigrationConnection) => Promise<T>,
): Promise<T> {
  const connection = createConnection({
    ...connectionOptions(url),
    connectTimeout: 10_000,
    // Everything as the text that the server sends.
    typeCast: (field) => field.string('utf-8'),
  });
  // Each statement reports the error to its caller.
  connection.on('error', () => undefined);
  try {
    await order(connection, `SET SESSION ${settings.join(', ')}`);
    await order(connection, 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
    return await work({
      family: 'mysql',
      query: (text, parameters) => ask(connection, text, parameters),
      script: (text) => order(connection, text),
    });
  } catch (error) {
    throw error instanceof PlatformError ? error : toDatabaseError(toMysqlError(error));
  } finally {
    connection.destroy();
  }
}

function order(connection: Connection, text: string): Promise<void> {
  return ask(connection, text, []).then(() => undefined);
}

function ask(
  connection: Connection,
  sql: string,
  parameters: readonly (string | null)[],
): Promise<readonly (readonly (string | null)[])[]> {
  return new Promise((resolve, reject) => {
    const options = { sql, values: [...parameters], rowsAsArray: true };
    connection.query<RowDataPacket[][] | ResultSetHeader>(options, (error, rows) => {
      if (error) reject(error);
      // A statement that changes rows returns how many it found.
      else if (!Array.isArray(rows)) resolve([['1', String(rows.affectedRows)]]);
      else resolve(rows.map((row) => row.map((value: unknown) => (typeof value === 'string' ? value : null))));
    });
  });
}
