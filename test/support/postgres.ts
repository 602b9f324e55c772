/** Real PostgreSQL servers and databases for tests and benchmarks, without vitest: see database.ts for test files. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { isOfSession, keepConnections } from './kept.ts';

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

/** Makes a database on the server of `serverUrl`, an empty one by itself, and runs `sql` in it (many statements are fine). */
export async function createDatabaseOn(serverUrl: string, sql?: string, template = 'template0'): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await useKept(serverUrl, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`));
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  made.add(url.href);
  const drop = async (): Promise<void> => {
    made.delete(url.href);
    await kept.close(url.href);
    await useKept(serverUrl, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  };
  try {
    if (sql) await withClient(url.href, (client) => client.query(sql));
  } catch (error) {
    await drop();
    throw error;
  }
  return { url: url.href, name, drop };
}

/** Names of databases that others are copied of, by their servers and what they hold. */
const templates = new Map<string, Promise<string>>();

/** Makes a database that holds what `fill` puts there, which is done once in a process, and copied. */
export async function createCopyOn(
  serverUrl: string,
  contents: string,
  fill: (url: string) => Promise<unknown>,
): Promise<TestDatabase> {
  const key = `${serverUrl} ${contents}`;
  const template = templates.get(key) ?? makeTemplate(serverUrl, fill);
  templates.set(key, template);
  return createDatabaseOn(serverUrl, undefined, await template);
}

/** It goes with its server. */
async function makeTemplate(serverUrl: string, fill: (url: string) => Promise<unknown>): Promise<string> {
  const { url, name } = await createDatabaseOn(serverUrl);
  await fill(url);
  // PostgreSQL does not copy a database while a client is connected to it.
  await kept.close(url);
  return name;
}

/**
 * Hands a connection to `use`. In databases that are made here it is kept for the next use, unless something is left in its
 * session; elsewhere it is closed.
 */
export async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  if (made.has(url)) return useKept(url, use);
  const client = await openClient(url);
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Databases that were made and not dropped yet. */
const made = new Set<string>();

/** Statements of the present use of a connection. */
interface Uses {
  sent: number;
  clean: boolean;
}
const usesOf = new WeakMap<pg.Client, Uses>();

const kept = keepConnections<pg.Client>({
  async open(url) {
    // The end of the server is no news for a connection that is kept.
    const client = await openClient(url, '-c log_min_messages=panic');
    usesOf.set(client, watch(client));
    return client;
  },
  close: (client) => client.end(),
  isClean(client) {
    const uses = usesOf.get(client);
    if (uses === undefined || !uses.clean || client.getTransactionStatus() !== 'I') return false;
    uses.sent = 0;
    // A process with nothing else to do may end.
    hold(client, false);
    return true;
  },
  wasLost: (client, error) =>
    (usesOf.get(client)?.sent ?? 2) <= 1 && (!(error instanceof pg.DatabaseError) || error.severity === 'FATAL'),
});

function useKept<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  return kept.use(url, (client) => {
    hold(client, true);
    return use(client);
  });
}

function hold({ connection: { stream } }: pg.Client, running: boolean): void {
  if (stream instanceof Socket) stream[running ? 'ref' : 'unref']();
}

/** Looks at what is sent. */
function watch({ connection }: pg.Client): Uses {
  const uses: Uses = { sent: 0, clean: true };
  const note = (sql: string): void => {
    uses.sent += 1;
    if (isOfSession(sql)) uses.clean = false;
  };
  const [query, parse] = [connection.query.bind(connection), connection.parse.bind(connection)];
  connection.query = (text) => {
    note(text);
    query(text);
  };
  connection.parse = (request, more) => {
    note(request.text);
    parse(request, more);
  };
  return uses;
}

async function openClient(url: string, options?: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, ...(options && { options }) });
  // A connection that is lost rejects the next query.
  client.on('error', () => undefined);
  await client.connect();
  return client;
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
