/** PgBouncer in front of a test's database, where the machine has it: `apt-get install pgbouncer`. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { withClient } from './postgres.ts';

/** When a connection to the server goes back to the others of the pool. */
export type PoolMode = 'session' | 'transaction' | 'statement';

/** A running pooler. */
export interface Pooler {
  /** The database's URL, through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

const path = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin` };
const banner = spawnSync('pgbouncer', ['--version'], { env: path, encoding: 'utf8' }).stdout ?? '';

/** Such as `PgBouncer 1.18.0`; undefined where there is none, and then why. */
export const poolerVersion = banner.split('\n')[0] || undefined;

/** What to write behind the name of a test that has to be skipped. */
export const withoutPooler = poolerVersion === undefined ? ' (skipped: pgbouncer is not installed)' : '';

/** It ends when its standard input does, so that none outlives its run. */
const script = 'pgbouncer "$@" & read -r _; kill $!; wait $!';

/**
 * Starts PgBouncer on a free port with at most four connections to the database of `databaseUrl`, or so many to each database
 * of its server.
 */
export async function startPooler(databaseUrl: string, mode: PoolMode, ofEach?: number): Promise<Pooler> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-pooler-'));
  await chmod(folder, 0o755);
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(file, configuration(new URL(databaseUrl), { port, mode, ofEach }), { mode: 0o644 });
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const pooler = spawn('sh', ['-c', script, 'sh', '-q', ...user, file], {
    env: path,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const errors: string[] = [];
  pooler.stderr.on('data', (text) => errors.push(String(text)));
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    pooler.stdin.end();
    await once(pooler, 'exit');
    await rm(folder, { recursive: true, force: true });
  };
  if (await answers(url.href)) return { url: url.href, stop };
  await stop();
  throw new Error(`PgBouncer did not start:\n${errors.join('')}`);
}

interface PoolerSettings {
  readonly port: number;
  readonly mode: PoolMode;
  readonly ofEach: number | undefined;
}

function configuration(
  { hostname, port: serverPort, username, password, pathname }: URL,
  { port, mode, ofEach }: PoolerSettings,
): string {
  const name = pathname.slice(1);
  const server = `host=${hostname} port=${serverPort} user=${username} password=${password}`;
  return `[databases]
${ofEach === undefined ? `${name} = dbname=${name}` : '* ='} ${server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${ofEach ?? 4}
`;
}

async function answers(url: string): Promise<boolean> {
  for (const end = Date.now() + 10_000; Date.now() < end; await sleep(50)) {
    const answered = withClient(url, (client) => client.query('SELECT 1'));
    if (
      await answered.then(
        () => true,
        () => false,
      )
    )
      return true;
  }
  return false;
}
