import { mysqlSettings } from '@tablewright/introspect';
import { cut, mysqlEncryption, sessionSql } from '@tablewright/runtime/mysql';
import { databaseLabel, formParameters, readable } from '@tablewright/runtime/tools';
import mysql from 'mysql2/promise';
import { unreachable } from '../commands.ts';
import { endConnection, firstAnswer, type Source } from '../source.ts';

/** Opens a MySQL or MariaDB database; it only writes if `writable` is set. Rejects with advice when out of reach. */
export async function openMysql(url: string, writable: boolean): Promise<Source> {
  const label = databaseLabel(url);
  const connection = await connect(url, label);
  const leave = (): void => cut(connection);
  const isMariadb = await firstAnswer(setUp(connection, writable)).catch((error: unknown) => {
    leave();
    throw unreachable(label, error);
  });
  return {
    label,
    family: 'mysql',
    dialect: isMariadb ? 'mariadb' : 'mysql',
    run: async (sql, parameters) => {
      const [rows] = await connection.query<mysql.RowDataPacket[][] | mysql.ResultSetHeader>({
        sql,
        values: [...parameters],
        rowsAsArray: true,
      });
      // A statement that changes rows returns how many it found.
      if (!Array.isArray(rows)) return [['1', String(rows.affectedRows)]];
      return rows.map((row) => row.map((value: unknown) => (typeof value === 'string' ? value : null)));
    },
    read: async ({ text, forms }, parameters, before = '') => {
      await connection.query(sessionSql({ isMariadb, statementTimeoutMs: 0 }));
      try {
        const [rows] = await connection.execute<mysql.RowDataPacket[][]>({
          sql: before + text,
          values: formParameters(parameters, forms),
          rowsAsArray: true,
          // Prepared statements send numbers in another form than text.
          typeCast: (_, next) => next(),
        });
        return rows.map((row) => row.map((value: unknown) => (value === null ? null : String(value))));
      } finally {
        // Statements of the command line are written for the server's own way to read them.
        await connection.query('SET SESSION sql_mode = DEFAULT');
      }
    },
    script: async (sql) => void (await connection.query(sql)),
    findBlockers: () => findBlockers(() => connect(url, label), connection.threadId),
    close: () => endConnection(connection.end(), leave),
    embedded: null,
  };
}

/** Prepares the session, and tells if the server is a MariaDB. */
async function setUp(connection: mysql.Connection, writable: boolean): Promise<boolean> {
  await connection.query(mysqlSettings);
  await connection.query("SET SESSION time_zone = '+00:00'");
  if (!writable) await connection.query('SET SESSION TRANSACTION READ ONLY');
  const [[version]] = await connection.query<mysql.RowDataPacket[]>('SELECT VERSION() AS version');
  return /mariadb/i.test(String(version?.version));
}

async function connect(url: string, label: string): Promise<mysql.Connection> {
  const { hostname, port, username, password, pathname } = new URL(url);
  try {
    const ssl = mysqlEncryption(url);
    const connection = await mysql.createConnection({
      host: hostname === '' ? 'localhost' : hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? 3306 : Number(port),
      user: readable(username),
      password: readable(password),
      database: readable(pathname.slice(1)),
      charset: 'utf8mb4',
      connectTimeout: 10_000,
      ...(ssl !== undefined && { ssl }),
      // Every value as the text that the server sends. For JSON the driver warns if it would choose the same charset,
      // `utf8`.
      typeCast: (field) => field.string('utf-8'),
    });
    return connection.on('error', () => undefined);
  } catch (error) {
    throw unreachable(label, error);
  }
}

/** Looks for them on a second connection; null where there are none, or the server notes no locks of tables. */
async function findBlockers(open: () => Promise<mysql.Connection>, id: number): Promise<readonly string[] | null> {
  const connection = await open();
  try {
    const [rows] = await connection.query<mysql.RowDataPacket[]>(blockersSql, [id]);
    return rows.length === 0 ? null : rows.map(({ session, user }) => `session ${session} (user ${user})`);
  } finally {
    await endConnection(connection.end(), () => cut(connection));
  }
}

const blockersSql = `SELECT DISTINCT blocker.PROCESSLIST_ID AS session, blocker.PROCESSLIST_USER AS user
FROM performance_schema.threads AS waiting
JOIN performance_schema.metadata_locks AS wanted
  ON wanted.OWNER_THREAD_ID = waiting.THREAD_ID AND wanted.LOCK_STATUS = 'PENDING'
JOIN performance_schema.metadata_locks AS held ON held.OBJECT_TYPE = wanted.OBJECT_TYPE
  AND held.OBJECT_SCHEMA <=> wanted.OBJECT_SCHEMA AND held.OBJECT_NAME <=> wanted.OBJECT_NAME
  AND held.LOCK_STATUS = 'GRANTED' AND held.OWNER_THREAD_ID <> wanted.OWNER_THREAD_ID
JOIN performance_schema.threads AS blocker ON blocker.THREAD_ID = held.OWNER_THREAD_ID
WHERE waiting.PROCESSLIST_ID = ? ORDER BY 1`;
