/**
 * MySQL itself, which stable releases of Debian do not have, and a MariaDB with vectors: the packages of the unstable one,
 * unpacked into a folder outside of the clone and run with their own loader and libraries. Nothing of the machine changes.
 */
import { globSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Changes when what is unpacked, or how, does. */
const recipe = 1;

/** Who may do everything on a server, with its password: one that is not empty, so that it has to be proved. */
export const initialUser = 'tests:tests';

const [name = '', password = ''] = initialUser.split(':');

/** What makes that user when a data directory is made. */
export const initialUserSql = `CREATE USER ${name}@'%' IDENTIFIED BY '${password}';
GRANT ALL ON *.* TO ${name}@'%' WITH GRANT OPTION;
`;

/** What the data directory is made with, and every server on a copy of it is started with. */
export const serverSettings = [
  '--innodb-redo-log-capacity=8M',
  '--default-time-zone=+00:00',
  '--secure-file-priv=NULL',
];

/** A server that is unpacked. */
export type Unpacked = 'mysql' | 'mariadb';

/** Where it lies; root's home is closed to whom it runs the server as. */
export function unpackedFolder(kind: Unpacked = 'mysql'): string {
  const cache = process.getuid?.() === 0 ? '/var/cache' : (process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'));
  return join(cache, 'platform-tests', `${kind}-${recipe}-${process.arch}`);
}

/** The file that is there when everything else is; it holds the version. */
export function stampOf(folder: string): string {
  return join(folder, 'unpacked');
}

/** A data directory as a new server has it, with `initialUser`. */
export function templateOf(folder: string): string {
  return join(folder, 'template');
}

/** How the server is run. Throws when it is not there. */
export function serverCommand(folder: string, kind: Unpacked = 'mysql'): readonly [file: string, ...args: string[]] {
  const root = join(folder, 'root');
  const [loader] = globSync(join(root, 'usr/lib/*-linux-gnu/ld-linux*.so.*'));
  if (loader === undefined) throw new Error(`There is no loader in ${root}.`);
  return [
    loader,
    '--library-path',
    join(loader, '..'),
    join(root, 'usr/sbin', kind === 'mysql' ? 'mysqld' : 'mariadbd'),
    '--no-defaults',
    `--basedir=${join(root, 'usr')}`,
    `--lc-messages-dir=${join(root, 'usr/share', kind)}`,
  ];
}
