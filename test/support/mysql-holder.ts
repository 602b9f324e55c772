/**
 * What the processes are made of that hold one throwaway server of MySQL's family each, as `postgres-server.ts` holds one
 * of PostgreSQL: makes a data directory, starts the server, prints one line of JSON (`MysqlServer` without `stop`), and when
 * its standard input closes stops the server and removes everything.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { makeDataFolder } from './data-folder.ts';
import { freePort } from './free-port.ts';

/** The servers refuse to run as root, so root runs them as `nobody`, which has this number on every Linux. */
export const nobody = 65534;
const isRoot = process.getuid?.() === 0;

/** Who runs a server, and what belongs to it: options of `spawn`. */
export const identity = isRoot ? { uid: nobody, gid: nobody } : {};

/** A server that can be held. */
export interface Holding {
  readonly name: string;
  /** Who may do everything, as it stands in front of `@` in a URL. */
  readonly user: string;
  /** Makes a data directory at `data`, in a directory that belongs to who runs the server. */
  readonly install: (directory: string, data: string) => void;
  /** Its program with the arguments that stand in front of all others, and those that stand behind them. */
  readonly command: readonly [file: string, ...args: string[]];
  readonly settings: readonly string[];
}

/** Fast and forgetful: nothing here has to survive a crash. */
const settings = [
  '--bind-address=127.0.0.1',
  '--skip-log-bin',
  '--skip-name-resolve',
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-doublewrite=0',
  '--innodb-buffer-pool-size=64M',
  '--max-connections=200',
  // Changes of tables wait for the disk otherwise, which other work may keep busy.
  '--innodb-flush-method=nosync',
];

/** Names of tables are kept and compared in lower case where whoever starts the process says so. */
export const tableNames = [`--lower-case-table-names=${process.argv[2] === 'lower case' ? 1 : 0}`];

/** Holds the server until the standard input closes, and ends the process. */
export async function hold(held: Holding): Promise<never> {
  // The end of the run is told by standard input alone; Ctrl-C in the terminal reaches every process of the group.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  const directory = makeDataFolder(held.name.toLowerCase());
  const parentGone = once(process.stdin.resume(), 'close');
  let server: ChildProcess | undefined;
  try {
    if (isRoot) chownSync(directory, nobody, nobody);
    const data = join(directory, 'data');
    held.install(directory, data);
    const port = await freePort();
    const [file, ...args] = held.command;
    const files = [`--datadir=${data}`, `--tmpdir=${directory}`, `--socket=${join(directory, 'socket')}`];
    server = spawn(file, [...args, ...files, `--port=${port}`, ...settings, ...tableNames, ...held.settings], {
      ...identity,
      cwd: directory,
      stdio: 'ignore',
    });
    const url = `${held.name.toLowerCase()}://${held.user}@127.0.0.1:${port}/mysql`;
    const version = await firstAnswer(held.name, url, server);
    process.stdout.write(`${JSON.stringify({ url, version })}\n`);
    await parentGone;
  } finally {
    await stopServer(server);
    rmSync(directory, { recursive: true, force: true });
  }
  return process.exit();
}

async function firstAnswer(name: string, uri: string, server: ChildProcess): Promise<string> {
  for (const started = Date.now(); Date.now() - started < 30_000; await sleep(50)) {
    if (server.exitCode !== null) throw new Error(`${name} ended with exit code ${server.exitCode}.`);
    try {
      const connection = await mysql.createConnection({ uri });
      const [rows] = await connection.query<mysql.RowDataPacket[]>('SELECT VERSION() AS version');
      await connection.end();
      return String(rows[0]?.version);
    } catch {
      // Not up yet.
    }
  }
  throw new Error(`${name} did not answer within 30 seconds.`);
}

/** Nothing is worth being written down. */
async function stopServer(server: ChildProcess | undefined): Promise<void> {
  if (!server || server.exitCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
}
