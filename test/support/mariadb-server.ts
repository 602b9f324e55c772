/**
 * A process of its own that holds one throwaway MariaDB server, as `postgres-server.ts` holds one of PostgreSQL: makes a
 * data directory, starts the server, prints one line of JSON (`MariadbServer` without `stop`), and when its standard input
 * closes stops the server and removes everything. Started by `startMariadb` in mariadb.ts; not meant to be imported.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { freePort } from './free-port.ts';

/** The server refuses to run as root, so root runs it as `nobody`, which has this number on every Linux. */
const nobody = 65534;
const isRoot = process.getuid?.() === 0;
const identity = isRoot ? { uid: nobody, gid: nobody } : {};

/** Fast and forgetful: nothing here has to survive a crash. */
const settings = [
  '--bind-address=127.0.0.1',
  '--skip-log-bin',
  '--skip-name-resolve',
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-doublewrite=0',
  '--innodb-buffer-pool-size=64M',
  '--innodb-log-file-size=16M',
  '--max-connections=200',
  '--log-warnings=0',
];

async function main(): Promise<void> {
  // root's own TMPDIR may be closed to nobody.
  const directory = mkdtempSync(join(isRoot ? '/tmp' : tmpdir(), 'platform-mariadb-'));
  const parentGone = once(process.stdin.resume(), 'close');
  let server: ChildProcess | undefined;
  try {
    if (isRoot) chownSync(directory, nobody, nobody);
    const data = join(directory, 'data');
    install(directory, data);
    const port = await freePort();
    const args = ['--no-defaults', `--datadir=${data}`, `--port=${port}`, `--socket=${join(directory, 'socket')}`];
    server = spawn('/usr/sbin/mariadbd', [...args, ...settings], { ...identity, cwd: directory, stdio: 'ignore' });
    const url = `mariadb://root@127.0.0.1:${port}/mysql`;
    const version = await firstAnswer(port, server);
    process.stdout.write(`${JSON.stringify({ url, version })}\n`);
    await parentGone;
  } finally {
    await stopServer(server);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Makes a data directory. Where several are made at once it fails now and then, and does not the next time. */
function install(directory: string, data: string, tries = 3): void {
  const names = ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'];
  try {
    execFileSync('mariadb-install-db', names, { ...identity, cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    if (tries === 1) throw error;
    rmSync(data, { recursive: true, force: true });
    install(directory, data, tries - 1);
  }
}

async function firstAnswer(port: number, server: ChildProcess): Promise<string> {
  for (const started = Date.now(); Date.now() - started < 30_000; await sleep(50)) {
    if (server.exitCode !== null) throw new Error(`MariaDB ended with exit code ${server.exitCode}.`);
    try {
      const connection = await mysql.createConnection({ host: '127.0.0.1', port, user: 'root' });
      const [rows] = await connection.query<mysql.RowDataPacket[]>('SELECT VERSION() AS version');
      await connection.end();
      return String(rows[0]?.version);
    } catch {
      // Not up yet.
    }
  }
  throw new Error('MariaDB did not answer within 30 seconds.');
}

/** Nothing is worth being written down. */
async function stopServer(server: ChildProcess | undefined): Promise<void> {
  if (!server || server.exitCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
}

// The end of the run is told by standard input alone; Ctrl-C in the terminal reaches every process of the group.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
await main();
process.exit();
