/**
 * Fetches and unpacks MySQL, or MariaDB where the argument says so (see unpacked-mysql.ts), unless that was done, and prints its version. Takes some twenty seconds
 * and 300 MB. Run under a lock by mysql.ts; not meant to be imported. Fails, saying why, where apt or its network is missing.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { identity, nobody } from './mysql-holder.ts';
import {
  initialUserSql,
  serverCommand,
  serverSettings,
  stampOf,
  templateOf,
  unpackedFolder,
} from './unpacked-mysql.ts';

const kind = process.argv[2] === 'mariadb' ? 'mariadb' : 'mysql';
const folder = unpackedFolder(kind);
const apt = join(folder, 'apt');
/** Why it could not be had, for those who ask soon after: without a network it takes long to find out. */
const failure = `${folder}.failed`;
const soonMs = 3_600_000;

function main(): void {
  try {
    if (!existsSync(stampOf(folder))) make();
    process.stdout.write(readFileSync(stampOf(folder), 'utf8'));
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error);
    const [reason] = /^E: .*$/m.exec(told) ?? [told.trim()];
    writeFileSync(failure, reason);
    fail(reason);
  }
}

function fail(reason: string): void {
  process.stderr.write(`${reason}\n`);
  process.exitCode = 1;
}

function make(): void {
  rmSync(folder, { recursive: true, force: true });
  unpack(download());
  if (kind === 'mysql') initialise();
  else bootstrap();
  rmSync(apt, { recursive: true });
  const [file, ...args] = serverCommand(folder, kind);
  writeFileSync(stampOf(folder), run(file, [...args, '--version']));
}

/** Has apt fetch the packages, and check them, into folders of our own; it takes nothing for installed. */
function download(): readonly string[] {
  for (const path of ['lists/partial', 'archives/partial']) mkdirSync(join(apt, path), { recursive: true });
  for (const path of [join(folder, '..'), folder]) chmodSync(path, 0o755);
  const sites = run('apt-get', ['indextargets', '--format', '$(SITE)']).split('\n');
  const site = sites.find((one) => /\/debian\/?$/.test(one));
  if (site === undefined) throw new Error('apt knows no mirror of Debian');
  writeFileSync(join(apt, 'sources.list'), `deb ${site} sid main\n`);
  writeFileSync(join(apt, 'status'), '');
  const options = Object.entries({
    'Dir::Etc::SourceList': join(apt, 'sources.list'),
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State::Lists': join(apt, 'lists'),
    'Dir::State::Status': join(apt, 'status'),
    'Dir::Cache': apt,
    'Dir::Cache::Archives': join(apt, 'archives'),
    'Acquire::Languages': 'none',
    'Acquire::http::Timeout': '10',
    'Acquire::Retries': '1',
    'APT::Install-Recommends': 'false',
    'APT::Sandbox::User': '',
    'Debug::NoLocking': 'true',
  }).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  run('apt-get', [...options, '-qq', 'update']);
  run('apt-get', [...options, '-qq', '-y', '--download-only', 'install', `${kind}-server-core`]);
  return globSync(join(apt, 'archives', '*.deb'));
}

/** Scripts come with an interpreter that the server does not need. */
function unpack(packages: readonly string[]): void {
  mkdirSync(join(folder, 'root'));
  for (const file of packages) {
    if (!/^(?:lib)?perl/.test(basename(file))) run('dpkg-deb', ['--extract', file, join(folder, 'root')]);
  }
}

function initialise(): void {
  const users = join(apt, 'users.sql');
  writeFileSync(users, initialUserSql, { mode: 0o644 });
  const data = templateOf(folder);
  mkdirSync(data, { mode: 0o700 });
  if ('uid' in identity) chownSync(data, nobody, nobody);
  const [file, ...args] = serverCommand(folder);
  const first = ['--initialize-insecure', `--datadir=${data}`, `--init-file=${users}`, ...serverSettings];
  run(file, [...args, ...first], { ...identity, cwd: data });
}

/** The script that does so looks for the server in a folder of the machine. */
function bootstrap(): void {
  const data = templateOf(folder);
  mkdirSync(data, { mode: 0o700 });
  if ('uid' in identity) chownSync(data, nobody, nobody);
  const scripts = ['mariadb_system_tables', 'mariadb_performance_tables', 'mariadb_system_tables_data'];
  const texts = scripts.map((name) => readFileSync(join(folder, 'root/usr/share/mariadb', `${name}.sql`), 'utf8'));
  const input = ['CREATE DATABASE mysql;', 'USE mysql;', ...texts].join('\n');
  const [file, ...args] = serverCommand(folder, kind);
  const first = ['--bootstrap', `--datadir=${data}`, `--tmpdir=${data}`, '--log-warnings=0'];
  run(file, [...args, ...first], { ...identity, cwd: data, input, stdio: 'pipe' });
}

function run(file: string, args: readonly string[], options: object = {}): string {
  return execFileSync(file, [...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], ...options });
}

const failedSoon = existsSync(failure) && Date.now() - statSync(failure).mtimeMs < soonMs;
if (failedSoon) fail(readFileSync(failure, 'utf8'));
else main();
