/**
 * A Galera cluster of three real MariaDB servers, where the machine has what it takes: `apt-get install mariadb-server
 * galera-4 rsync`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { noMariadb } from './mariadb.ts';

/** Running servers that belong together. */
export interface ServerGroup {
  /** Connections of a user who may do everything, one to each server. */
  readonly urls: readonly string[];
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

/** True where no cluster can be started. */
export const noGalera =
  noMariadb ||
  !['/usr/lib/galera/libgalera_smm.so', '/usr/bin/rsync', '/usr/bin/lsof'].every((path) => existsSync(path));

/** Behind the names of tests that need one: why they are skipped, when they are. */
export const withoutGalera = noGalera ? ' (skipped: galera-4, rsync or lsof is not installed)' : '';

/** Starts a cluster; takes some ten seconds. */
export function startGalera(): Promise<ServerGroup> {
  return startGroup('galera-server.ts');
}

/** Starts the process that holds the servers, a file of this folder. */
export async function startGroup(file: string): Promise<ServerGroup> {
  const script = fileURLToPath(new URL(file, import.meta.url));
  const holder = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  const ended = once(holder, 'exit');
  const lines = createInterface({ input: holder.stdout });
  const [line] = await Promise.race([once(lines, 'line'), ended.then(() => [])]);
  if (typeof line !== 'string') throw new Error(`The servers of ${file} did not start; their messages are above.`);
  const stop = async (): Promise<void> => {
    holder.stdin.end();
    await ended;
  };
  return { ...(JSON.parse(line) as Omit<ServerGroup, 'stop'>), stop };
}
