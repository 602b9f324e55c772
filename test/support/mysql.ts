/** A real MySQL server: one for all test files of a worker, or the one that `MYSQL_URL` names. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type MysqlServer, startHeld } from './mariadb.ts';
import { stampOf, type Unpacked, unpackedFolder } from './unpacked-mysql.ts';

/** Why there is no server to start, in a few words; undefined where there is one. The first who asks fetches it. */
function whyMissing(): string | undefined {
  return process.env.MYSQL_URL === undefined ? fetchUnpacked('mysql') : undefined;
}

/** Fetches a server unless it is there. Returns why it cannot be had. */
export function fetchUnpacked(kind: Unpacked): string | undefined {
  if (existsSync(stampOf(unpackedFolder(kind)))) return undefined;
  if (process.platform !== 'linux' || !existsSync('/usr/bin/apt-get'))
    return 'no address of one, and no apt to get it by';
  const folder = unpackedFolder(kind);
  const script = fileURLToPath(new URL('./unpack-mysql.ts', import.meta.url));
  try {
    mkdirSync(dirname(folder), { recursive: true });
  } catch {
    return `no address of one, and ${dirname(folder)} cannot be made`;
  }
  // Of several at once one works, and the others wait for it.
  const { status, stderr, error } = spawnSync('flock', [`${folder}.lock`, process.execPath, script, kind], {
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (status === 0) return undefined;
  return `no address of one, and it could not be fetched: ${error?.message ?? stderr.trim()}`;
}

const reason = whyMissing();

/** True where no server can be started. */
export const noMysql = reason !== undefined;

/** Behind the names of tests that need one: why they are skipped, when they are. */
export const withoutMysql = reason === undefined ? '' : ` (skipped: ${reason})`;

let shared: Promise<MysqlServer> | undefined;

/** Starts the server, or gives the one that this process has started; it ends with the process. */
export function startMysql(): Promise<MysqlServer> {
  shared ??= process.env.MYSQL_URL === undefined ? startShared() : Promise.resolve(named(process.env.MYSQL_URL));
  return shared;
}

async function startShared(): Promise<MysqlServer> {
  const { url, version } = await startHeld('mysql-server.ts');
  return { url, version, stop: async () => {} };
}

function named(url: string): MysqlServer {
  return { url, version: '', stop: async () => {} };
}
