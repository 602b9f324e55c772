/** Real PostgreSQL servers and databases for tests and benchmarks, without vitest: see database.ts for test files. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

/** A running throwaway server. */
export interface PostgresServer {
  /** Superuser connection to the database `postgres`. */
  readonly url: string;
  /** As the server reports it, such as `18.4`. */
  readonly version: string;
  /** The npm package the binaries came from, or `system`. */
  readonly source: string;
  /** Stops the server and removes its directory. Happens by itself when this process ends. */
  readonly stop: () => Promise<void>;
}

/** A fresh database, to be dropped by whoever made it. */
export interface TestDatabase {
  readonly url: string;
  readonly name: string;
  readonly drop: () => Promise<void>;
}

/** A primary with a hot standby that follows it. */
export interface PostgresPair extends PostgresServer {
  readonly pid: number;
  readonly standbyUrl: string;
  readonly standbyPid: number;
}

/** Starts a PostgreSQL server on a free port of the loopback address; takes about a second. */
export function startPostgres(): Promise<PostgresServer> {
  return startHeld<PostgresServer>([]);
}

/** Starts a server of the version that the machine's own `pg_dump` has. */
export function startSystemPostgres(): Promise<PostgresServer> {
  return startHeld<PostgresServer>(['of the system']);
}

/** Starts a primary and its standby. */
export function startPostgresPair(): Promise<PostgresPair> {
  return startHeld<PostgresPair>(['with standby']);
}

/** Starts two servers that both take writes, with one identifier and one history. */
export function startPostgresTwins(): Promise<PostgresPair> {
  return startHeld<PostgresPair>(['with twin']);
}

async function startHeld<Server extends PostgresServer>(args: readonly string[]): Promise<Server> {
  const script = fileURLToPath(new URL('./postgres-server.ts', import.meta.url));
  // A group of its own: Ctrl-C in a terminal must not end it before it has cleaned up.
  const holder = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  const ended = once(holder, 'exit');
  const lines = createInterface({ input: holder.stdout });
  const [line] = await Promise.race([once(lines, 'line'), ended.then(() => [])]);
  if (typeof line !== 'string') throw new Error('PostgreSQL did not start; its messages are above.');
  const stop = async (): Promise<void> => {
    holder.stdin.end();
    await ended;
  };
  // The process prints what it is asked for.
  return { ...JSON.parse(line), stop } as Server;
}

/** Makes an empty database on the server of `serverUrl` and runs `sql` in it (many statements are fine). */
export async function createDatabaseOn(serverUrl: string, sql?: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await withClient(serverUrl, (client) =>
    client.query(`CREATE DATABASE ${name} TEMPLATE template0 STRATEGY file_copy`),
  );
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const drop = async (): Promise<void> => {
    await withClient(serverUrl, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  };
  try {
    if (sql) await withClient(url.href, (client) => client.query(sql));
  } catch (error) {
    await drop();
    throw error;
  }
  return { url: url.href, name, drop };
}

/** Opens one connection, hands it to `use`, and closes it. */
export async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  // A connection that is lost rejects the next query.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/**
 * Loads a plain pg_dump file, with `COPY … FROM stdin` blocks, into the database of `url`. Of psql's own commands only
 * `\.` is known: lines such as `\connect` or `\restrict` are left out. The statements between two COPY blocks run as
 * one transaction.
 */
export async function loadDump(url: string, path: string): Promise<void> {
  await withClient(url, async (client) => {
    for await (const part of dumpParts(path)) {
      if (part.copy === undefined) await client.query(part.text);
      else await pipeline([part.text], client.query(copyFrom(part.copy)));
    }
  });
}

interface DumpPart {
  readonly text: string;
  /** The COPY statement that `text` is the data of; absent for a run of statements. */
  readonly copy?: string;
}

async function* dumpParts(path: string): AsyncGenerator<DumpPart> {
  let lines: string[] = [];
  let copy: string | undefined;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (copy !== undefined && line === '\\.') {
      yield { copy, text: lines.map((row) => `${row}\n`).join('') };
      lines = [];
      copy = undefined;
    } else if (copy === undefined && /^COPY .* FROM stdin;$/i.test(line)) {
      yield { text: lines.join('\n') };
      lines = [];
      copy = line;
    } else if (copy !== undefined || !/^\\[a-z]/.test(line)) {
      lines.push(line);
    }
  }
  yield { text: lines.join('\n') };
}
