/**
 * Stand-ins for images of the Docker Hub, which tests do not reach: programs of this machine with the libraries that they
 * link, in a root of their own.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Machine } from './machine.ts';

/** Programs of Debian's PostgreSQL; null where it is not installed. */
export function postgresPrograms(): string | null {
  const versions = '/usr/lib/postgresql';
  const newest = existsSync(versions) ? readdirSync(versions).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = newest.map((version) => join(versions, version, 'bin'));
  return folders.find((folder) => ['initdb', 'pg_isready'].every((name) => existsSync(join(folder, name)))) ?? null;
}

/** `node:24-slim`: the pinned Node, npm that asks the machine's registry, and the programs that a shell calls. */
export function makeNodeRoot(machine: Machine): string {
  const root = makeRoot(machine, 'node');
  for (const name of ['sh', 'cat', 'env', 'id', 'mkdir', 'rm', 'touch']) install(root, `/usr/bin/${name}`);
  install(root, join(machine.folder, 'bin/node'), '/usr/local/bin/node');
  cpSync(join(machine.folder, 'tools/npm'), join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  const script = '../lib/node_modules/npm/bin/npm-cli.js';
  chmodSync(join(root, 'usr/local/bin', script), 0o755);
  symlinkSync(script, join(root, 'usr/local/bin/npm'));
  mkdirSync(join(root, 'usr/local/etc'));
  writeFileSync(join(root, 'usr/local/etc/npmrc'), `registry=${machine.registry}\n`);
  return root;
}

/** Puts the start of a server into the place where the image has it. */
export const postgresEntry = '/usr/local/bin/start';

/** `postgres:18` as far as compose.yaml uses it: its variables, its volume, and a server that runs as another user. */
export function makePostgresRoot(machine: Machine, programs: string): string {
  const root = makeRoot(machine, 'postgres');
  for (const name of ['sh', 'chown', 'id', 'mkdir', 'setpriv']) install(root, `/usr/bin/${name}`);
  for (const name of ['initdb', 'postgres']) install(root, join(programs, name));
  install(root, join(programs, 'pg_isready'), '/usr/bin/pg_isready');
  const libraries = join(dirname(programs), 'lib');
  const isNeeded = (path: string): boolean => !/\/(?:bitcode|llvmjit)/.test(path);
  for (const folder of [libraries, dirname(programs).replace('/lib/', '/share/')]) {
    cpSync(folder, join(root, folder), { recursive: true, dereference: true, filter: isNeeded });
  }
  copyInto(root, '/usr/share/zoneinfo/UTC', '/usr/share/zoneinfo/UTC');
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true });
  writeFileSync(join(root, postgresEntry), startOf(programs), { mode: 0o755 });
  return root;
}

const startOf = (programs: string): string => `#!/bin/sh
set -eu
export PGDATA=/var/lib/postgresql/18/docker PATH="${programs}:$PATH"
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  chown -R 999:999 /var/lib/postgresql
  exec setpriv --reuid 999 --regid 999 --clear-groups "$0"
fi
if ! [ -s "$PGDATA/PG_VERSION" ]; then
  initdb --encoding=UTF8 --locale=C --no-sync --auth=scram-sha-256 \\
    --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE"
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  echo "CREATE DATABASE $POSTGRES_USER" | postgres --single postgres
fi
exec postgres -c listen_addresses='*' -c unix_socket_directories=/tmp
`;

/** An empty root with two users, in which /bin and its like are links, as Debian has them. */
function makeRoot(machine: Machine, name: string): string {
  const root = join(machine.folder, 'stand-ins', name);
  for (const path of ['etc', 'root', 'tmp', 'usr', 'var/lib/postgresql'])
    mkdirSync(join(root, path), { recursive: true });
  for (const link of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${link}`, join(root, link));
  chmodSync(join(root, 'tmp'), 0o1777);
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\npostgres:x:999:999::/:/bin/sh\n');
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\npostgres:x:999:\n');
  return root;
}

/** Copies a program and its libraries. */
function install(root: string, program: string, path = program): void {
  copyInto(root, program, path);
  const linked = execFileSync('ldd', [program], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g);
  for (const [, library = ''] of linked) copyInto(root, library, library.replace(/^\/lib/, '/usr/lib'));
}

function copyInto(root: string, source: string, path: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  copyFileSync(source, join(root, path));
}
