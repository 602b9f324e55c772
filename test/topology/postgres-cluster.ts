/** A primary and standbys of Debian's PostgreSQL in a folder of their own, which can be killed, promoted and rebuilt. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, chownSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';
import { withClient } from '../support/postgres.ts';

/** PostgreSQL refuses to run as root, so root runs it as `nobody`, which has this number on every Linux. */
const nobody = 65534;
const identity = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
const bin = '/usr/lib/postgresql/15/bin';

/** Why there can be no cluster here; null where there can. */
export const postgresMissing: string | null = existsSync(join(bin, 'pg_basebackup'))
  ? null
  : 'postgresql-15 is not installed';

/** One server of a cluster. */
export interface PostgresNode {
  readonly name: string;
  readonly url: string;
  readonly pid: () => number;
  /** Ends it at once, as a loss of power does. */
  kill(): Promise<void>;
}

/** Servers of which one takes writes. */
export interface PostgresCluster {
  /** The one that takes writes first, then its standbys. */
  readonly nodes: () => readonly PostgresNode[];
  /** Kills the primary, promotes the standby that has most, has the other follow it, and gives the time of the promotion. */
  failOver(): Promise<number>;
  /** Makes a new standby of the server that was killed. */
  rebuild(): Promise<void>;
  stop(): Promise<void>;
}

interface Server extends PostgresNode {
  readonly data: string;
  readonly port: number;
  readonly start: () => Promise<void>;
}

/** Starts them; `isSynchronous` has a COMMIT wait for one standby. */
export async function startPostgresCluster(folder: string, isSynchronous: boolean): Promise<PostgresCluster> {
  chmodSync(folder, 0o755);
  const servers = await Promise.all(['one', 'two', 'three'].map((name) => createServer(folder, name)));
  const [first] = servers;
  if (first === undefined) throw new Error('There is no server.');
  run('initdb', ['-D', first.data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'], folder);
  // Copies have it, too, and nothing else sets it: it can be changed.
  if (isSynchronous) appendFileSync(join(first.data, 'postgresql.conf'), `\nsynchronous_standby_names = 'ANY 1 (*)'\n`);
  await first.start();
  for (const standby of servers.slice(1)) await copyOf(first, standby, folder);
  let live: readonly Server[] = servers;
  let dead: Server | undefined;
  return {
    nodes: () => live,
    async failOver() {
      const [primary, ...standbys] = live;
      await primary?.kill();
      const [next, ...others] = await byProgress(standbys);
      if (next === undefined) throw new Error('There is no standby.');
      await withClient(next.url, (client) => client.query('SELECT pg_promote(true)'));
      const promotedAt = performance.now();
      for (const other of others) await follow(other, next);
      live = [next, ...others];
      dead = primary;
      return promotedAt;
    },
    async rebuild() {
      const [primary] = live;
      if (dead === undefined || primary === undefined) return;
      rmSync(dead.data, { recursive: true, force: true });
      makeData(dead.data);
      await copyOf(primary, dead, folder);
      live = [...live, dead];
      dead = undefined;
    },
    async stop() {
      await Promise.all(servers.map((server) => server.kill()));
    },
  };
}

function run(command: string, args: readonly string[], cwd: string): void {
  execFileSync(join(bin, command), args, { ...identity, cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}

function makeData(data: string): void {
  mkdirSync(data, { mode: 0o700 });
  if ('uid' in identity) chownSync(data, nobody, nobody);
}

async function createServer(folder: string, name: string): Promise<Server> {
  const data = join(folder, name);
  const port = await freePort();
  const url = `postgres://postgres:postgres@127.0.0.1:${port}/postgres`;
  makeData(data);
  const settings = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    // Processes are killed here, never the machine.
    fsync: 'off',
    shared_buffers: '32MB',
    max_connections: '150',
    max_wal_senders: '10',
    wal_keep_size: '256MB',
    wal_retrieve_retry_interval: '100ms',
    wal_receiver_status_interval: '1s',
    log_min_messages: 'panic',
  };
  const options = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  let server: ChildProcess | undefined;
  return {
    name,
    data,
    port,
    url,
    pid: () => server?.pid ?? 0,
    async start() {
      server = spawn(join(bin, 'postgres'), ['-D', data, ...options], { ...identity, cwd: data, stdio: 'ignore' });
      await answers(url);
    },
    async kill() {
      const running = server;
      server = undefined;
      if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
      const ended = once(running, 'exit');
      running.kill('SIGKILL');
      await ended;
    },
  };
}

/** Copies a running server, and starts the copy as its standby. */
async function copyOf(primary: Server, standby: Server, folder: string): Promise<void> {
  const source = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres'];
  run('pg_basebackup', [...source, '-D', standby.data, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'], folder);
  await standby.start();
}

async function follow(standby: Server, primary: Server): Promise<void> {
  await withClient(standby.url, async (client) => {
    await client.query(`ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=postgres'`);
    await client.query('SELECT pg_reload_conf()');
  });
}

/** The standby that has received most first: with one that has less, what was acknowledged would be lost. */
async function byProgress(standbys: readonly Server[]): Promise<readonly Server[]> {
  const received = await Promise.all(
    standbys.map(async (standby) => {
      const { rows } = await withClient(standby.url, (client) =>
        client.query<{ bytes: string }>(
          `SELECT GREATEST(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0'::pg_lsn AS bytes`,
        ),
      );
      return { standby, bytes: BigInt(rows[0]?.bytes ?? 0) };
    }),
  );
  return received.sort((a, b) => (b.bytes > a.bytes ? 1 : -1)).map(({ standby }) => standby);
}

async function answers(url: string): Promise<void> {
  for (const start = performance.now(); performance.now() - start < 30_000; await sleep(20)) {
    const isThere = await withClient(url, (client) => client.query('SELECT 1')).then(
      () => true,
      () => false,
    );
    if (isThere) return;
  }
  throw new Error(`The server at ${url} does not answer.`);
}
