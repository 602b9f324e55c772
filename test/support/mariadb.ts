/**
 * A real MariaDB server, one for all test files of a worker, where the machine has one or can get it: `apt-get install
 * mariadb-server`.
 */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import mysql from 'mysql2/promise';

/** A running throwaway server. */
export interface MysqlServer {
  /** Connection of a user who may do everything, to the database `mysql`. */
  readonly url: string;
  /** As the server reports it: `10.11.19-MariaDB-0+deb12u1`. */
  readonly version: string;
  /** Stops the server and removes its directory. Happens by itself when this process ends. */
  readonly stop: () => Promise<void>;
}

const binary = '/usr/sbin/mariadbd';

/** Whether there is a server to start. The first who asks installs it, when root may. */
function isThere(): boolean {
  if (existsSync(binary)) return true;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false;
  try {
    // RUNLEVEL keeps the package from starting a service.
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    execFileSync('apt-get', ['update'], { env, stdio: 'ignore' });
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', 'mariadb-server'], { env, stdio: 'ignore' });
  } catch {
    // Then the tests are skipped, and say so.
  }
  return existsSync(binary);
}

/** True where no server can be started. */
export const noMariadb = !isThere();

/** Behind the names of tests that need one: why they are skipped, when they are. */
export const withoutMariadb = noMariadb ? ' (skipped: mariadb-server is not installed)' : '';

let shared: Promise<MysqlServer> | undefined;

/** How a server treats the case of names of tables. */
export type TableNames = 'as written' | 'lower case';

/** Starts a server, or gives the one that this process has started, or that `MARIADB_URL` names; it ends with the process. */
export function startMariadb(): Promise<MysqlServer> {
  const { MARIADB_URL: named } = process.env;
  if (named !== undefined) return Promise.resolve({ url: named, version: '', stop: async () => {} });
  shared ??= startHeld('mariadb-server.ts').then((server) => ({ ...server, stop: async () => {} }));
  return shared;
}

/** Starts the process that holds a server, a file of this folder. */
export async function startHeld(script: string, names: TableNames = 'as written'): Promise<MysqlServer> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  // A group of its own: Ctrl-C in a terminal must not end it before it has cleaned up.
  const holder = spawn(process.execPath, [path, names], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  const ended = once(holder, 'exit');
  const lines = createInterface({ input: holder.stdout });
  const [line] = await Promise.race([once(lines, 'line'), ended.then(() => [])]);
  if (typeof line !== 'string') throw new Error(`The server of ${script} did not start; its messages are above.`);
  const { stdin } = holder;
  const stop = async (): Promise<void> => {
    holder.ref();
    stdin.end();
    await ended;
  };
  // Whoever has nothing else to do ends, and the server with him.
  for (const one of [holder, stdin, holder.stdout]) if ('unref' in one && typeof one.unref === 'function') one.unref();
  return { ...(JSON.parse(line) as Omit<MysqlServer, 'stop'>), stop };
}

/** Makes a database on a server and runs `sql` in it (many statements are fine). Returns its URL. */
export async function createMysqlDatabase(
  server: MysqlServer,
  sql: string,
  collation?: string,
  characterSet = 'utf8mb4',
): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const chosen = collation === undefined ? '' : ` COLLATE ${collation}`;
  await withMysql(server.url, (connection) =>
    connection.query(`CREATE DATABASE ${name} CHARACTER SET ${characterSet}${chosen}`),
  );
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  await withMysql(url.href, (connection) => connection.query(sql));
  return url.href;
}

/** Opens one connection, hands it to `use`, and closes it. */
export async function withMysql<T>(url: string, use: (connection: mysql.Connection) => Promise<T>): Promise<T> {
  const connection = await connectMysql(url);
  try {
    return await use(connection);
  } finally {
    await connection.end();
  }
}

/** Opens a connection that takes several statements at once. */
export function connectMysql(url: string): Promise<mysql.Connection> {
  const { hostname, port, username, password, pathname } = new URL(url);
  return mysql.createConnection({
    host: hostname,
    port: Number(port),
    user: username,
    password,
    database: pathname.slice(1),
    charset: 'utf8mb4',
    timezone: 'Z',
    multipleStatements: true,
  });
}
