/** Everything that is measured, running: the database with its data, the compiled servers, the hand-written one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { dataSql } from '../fixtures/magazine/data.ts';
import { createProject, type Platform, runPlatform, startUnchecked } from '../test/support/platform.ts';
import { createDatabaseOn, startPostgres, withClient } from '../test/support/postgres.ts';
import type { FilterValues } from './filter-scenarios.ts';
import { parentOf } from './processes.ts';
import type { Keys } from './scenarios.ts';

/** A server under measurement. */
export interface Served {
  readonly url: string;
  readonly pid: number;
}

/** What the measurements need. `close` stops and removes all of it. */
export interface Stage {
  readonly databaseUrl: string;
  /** The first process of the database server; undefined where it cannot be told. */
  readonly databasePid: number | undefined;
  /** The database server with its version: `PostgreSQL 18.4`. */
  readonly server: string;
  readonly keys: Keys;
  /** Absent where filters are not measured. */
  readonly filterValues?: FilterValues;
  /** Folder of the project without row rules. */
  readonly folder: string;
  /** The public may read what the scenarios read, without a row rule. */
  readonly open: Served;
  /** The same under the sample's own permissions: published articles and what belongs to them. */
  readonly ruled: Served;
  readonly handwritten: Served;
  close(): Promise<void>;
}

/** Rows of the sample are multiplied by this: 25,000 articles with 68,000 comments. */
export const factor = 100;

const repository = join(import.meta.dirname, '..');

/** What the scenarios read and write, for everybody. */
const openPermissions = `permissions:
  public:
    articles: { read: true, create: true, update: true }
    articles_tags: { read: true, create: true, delete: true }
    authors: { read: true }
    categories: { read: true }
    comments: { read: true, create: true, update: true }
    countries: { read: true }
    tags: { read: true }
`;

/**
 * Starts everything, which takes about half a minute. `say` is told what is going on, `handwritten` is the script of the
 * server written by hand, in this folder.
 */
export async function setStage(say: (text: string) => void, handwritten = 'handwritten.ts'): Promise<Stage> {
  const ends: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
  };
  try {
    say('starting PostgreSQL');
    const server = await startPostgres();
    ends.push(server.stop);
    say(`filling the magazine at factor ${factor}`);
    const { url } = await createDatabaseOn(server.url, await readText('fixtures/magazine/database.postgres.sql'));
    await fill(url);
    say('compiling and starting the servers');
    const openProject = await createProject('fixtures/magazine');
    ends.push(openProject.remove);
    const ruledProject = await createProject('fixtures/magazine');
    ends.push(ruledProject.remove);
    await writeFile(join(openProject.folder, 'permissions.yaml'), openPermissions);
    const open = await compileAndStart(openProject.folder, url);
    ends.push(open.stop);
    const ruled = await compileAndStart(ruledProject.folder, url);
    ends.push(ruled.stop);
    const other = await startHandwritten(handwritten, url);
    ends.push(other.stop);
    return {
      databaseUrl: url,
      databasePid: await serverPid(url),
      server: `PostgreSQL ${server.version}`,
      keys: await readKeys(url),
      filterValues: await readFilterValues(url),
      folder: openProject.folder,
      open,
      ruled,
      handwritten: other,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function readText(path: string): Promise<string> {
  return readFile(join(repository, path), 'utf8');
}

/** The statements end with ANALYZE. What VACUUM does later in any database is done before anything is measured. */
async function fill(url: string): Promise<void> {
  await withClient(url, async (client) => {
    for (const statement of dataSql(factor)) await client.query(statement);
    await client.query('VACUUM (ANALYZE, FREEZE)');
    await client.query('CHECKPOINT');
  });
}

/** In two processes, as in production: the one that serves has never loaded the compiler. */
export async function compileAndStart(folder: string, url: string): Promise<Platform> {
  const { code, stderr } = await runPlatform(['generate', '--project', folder], { DATABASE_URL: url });
  if (code !== 0) throw new Error(stderr);
  return startUnchecked(folder, url, { NODE_ENV: 'production' }, []);
}

/** Keys in an order of their own, so that neighbours in time are no neighbours in the table. */
async function readKeys(url: string): Promise<Keys> {
  const read = (sql: string): Promise<readonly string[]> => readTexts(url, sql);
  return {
    articles: await read(
      "SELECT id::text AS key FROM articles WHERE status = 'published' ORDER BY md5(id::text) LIMIT 2000",
    ),
    authors: await read('SELECT id::text AS key FROM authors ORDER BY md5(id::text) LIMIT 2000'),
    tags: await read('SELECT id::text AS key FROM tags ORDER BY id'),
  };
}

/** Values of the filters, also in an order of their own. */
async function readFilterValues(url: string): Promise<FilterValues> {
  const lived = 'FROM countries WHERE code IN (SELECT country FROM authors) ORDER BY md5(code)';
  const readers = 'SELECT DISTINCT author_name AS key FROM comments';
  return {
    countries: await readTexts(url, `SELECT code AS key ${lived}`),
    countryNames: await readTexts(url, `SELECT name AS key ${lived}`),
    tagNames: await readTexts(url, 'SELECT name AS key FROM tags ORDER BY md5(name)'),
    readers: await readTexts(url, `SELECT key FROM (${readers}) r ORDER BY md5(key) LIMIT 500`),
  };
}

/** The values of the column `key`. */
function readTexts(url: string, sql: string): Promise<readonly string[]> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ key: string }>(sql);
    return rows.map(({ key }) => key);
  });
}

/** Every connection is served by a child of the first process. */
export function serverPid(url: string): Promise<number | undefined> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return parentOf(rows[0]?.pid ?? 0);
  });
}

/** Starts a server written by hand, which is a script of this folder. */
export async function startHandwritten(script: string, url: string): Promise<Served & { stop(): Promise<unknown> }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, script)], {
    env: { ...process.env, NODE_ENV: 'production', DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), exited.then(() => [])]);
  if (typeof line !== 'string') throw new Error('The hand-written server did not start.');
  const { url: address }: { readonly url: string } = JSON.parse(line);
  return {
    url: address,
    pid: child.pid ?? 0,
    stop() {
      child.kill('SIGTERM');
      return exited;
    },
  };
}
