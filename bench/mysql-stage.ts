/** Everything that is measured on MariaDB or MySQL: the same tables, data and requests as on PostgreSQL, and mysql2 by hand. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import { generateData, type Row, type Value } from '../fixtures/magazine/data.ts';
import { createMysqlDatabase, startMariadb, withMysql } from '../test/support/mariadb.ts';
import { startMysql, withoutMysql } from '../test/support/mysql.ts';
import { createProject } from '../test/support/platform.ts';
import { compileAndStart, factor, type Stage, startHandwritten } from './stage.ts';

/** Read by everybody, without a row rule and with the one of the sample. */
const permissions = (filter: string): string => `permissions:
  public:
    articles: { read: ${filter} }
    articles_tags: { read: true }
    authors: { read: true }
    categories: { read: true }
    comments: { read: true }
    tags: { read: true }
`;

/** Starts everything, as `setStage` does on PostgreSQL. */
export async function setMysqlStage(database: 'mariadb' | 'mysql', say: (text: string) => void): Promise<Stage> {
  const ends: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
  };
  const startProject = async (filter: string) => {
    const { folder, remove } = await createProject();
    ends.push(remove);
    await writeFile(join(folder, 'permissions.yaml'), permissions(filter));
    const server = await compileAndStart(folder, url);
    ends.push(server.stop);
    return { folder, server };
  };
  let url = '';
  try {
    const name = database === 'mysql' ? 'MySQL' : 'MariaDB';
    say(`starting ${name}`);
    if (database === 'mysql' && withoutMysql !== '') throw new Error(`There is no MySQL${withoutMysql}.`);
    const server = await (database === 'mysql' ? startMysql() : startMariadb());
    ends.push(server.stop);
    say(`filling the magazine at factor ${factor}`);
    url = await createMysqlDatabase(server, await readFile(join(import.meta.dirname, 'mysql.sql'), 'utf8'));
    await withMysql(url, fill);
    say('compiling and starting the servers');
    const open = await startProject('true');
    const ruled = await startProject("{ filter: { status: { _eq: published } }, fields: ['*'] }");
    const handwritten = await startHandwritten('handwritten-mysql.ts', url);
    ends.push(handwritten.stop);
    return {
      databaseUrl: url,
      ...(await withMysql(url, readFacts)),
      server: `${name} ${server.version}`,
      folder: open.folder,
      open: open.server,
      ruled: ruled.server,
      handwritten,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function fill(connection: Connection): Promise<void> {
  // As much as PostgreSQL has by default; the servers of tests make do with less.
  await connection.query('SET GLOBAL innodb_buffer_pool_size = 256 * 1024 * 1024');
  for (const { table, columns, rows } of generateData(factor)) {
    const kept = await columnsOf(connection, table);
    const places = columns.flatMap((name, place) => (kept.has(name) ? [place] : []));
    if (places.length === 0) continue;
    const names = places.map((place) => columns[place]).join(', ');
    const values = rows.map((row: Row) => places.map((place) => spelled(row[place] ?? null)));
    await connection.query(`INSERT INTO ${table} (${names}) VALUES ?`, [values]);
  }
  await connection.query('ANALYZE TABLE authors, categories, tags, articles, articles_tags, comments');
}

/** The columns that a table has here; none of a table that is not measured. */
async function columnsOf(connection: Connection, table: string): Promise<ReadonlySet<string>> {
  const [rows] = await connection.query<RowDataPacket[]>(
    'SELECT column_name AS name FROM information_schema.columns WHERE table_schema = database() AND table_name = ?',
    [table],
  );
  return new Set(rows.map(({ name }) => String(name)));
}

/** Instants as MariaDB takes them. */
function spelled(value: Value): Value {
  const isInstant = typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);
  return isInstant ? value.replace('T', ' ').replace('Z', '') : value;
}

async function readFacts(connection: Connection): Promise<Pick<Stage, 'keys' | 'databasePid'>> {
  const keysOf = async (sql: string): Promise<readonly string[]> => {
    const [rows] = await connection.query<RowDataPacket[]>(sql);
    return rows.map(({ id }) => String(id));
  };
  const [[row]] = await connection.query<RowDataPacket[]>('SELECT @@pid_file AS file');
  const pid = Number(await readFile(String(row?.file), 'utf8').catch(() => ''));
  return {
    databasePid: pid > 0 ? pid : undefined,
    keys: {
      articles: await keysOf("SELECT id FROM articles WHERE status = 'published' ORDER BY SHA2(id, 256) LIMIT 2000"),
      authors: await keysOf('SELECT id FROM authors ORDER BY SHA2(id, 256) LIMIT 2000'),
      tags: await keysOf('SELECT id FROM tags ORDER BY id'),
    },
  };
}
