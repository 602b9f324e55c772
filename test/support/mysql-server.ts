/** A process of its own that holds one throwaway MySQL server. Started by `startMysql` in mysql.ts; not meant to be imported. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hold, identity, tableNames } from './mysql-holder.ts';
import {
  initialUser,
  initialUserSql,
  serverCommand,
  serverSettings,
  templateOf,
  unpackedFolder,
} from './unpacked-mysql.ts';

const folder = unpackedFolder();

/** Names of tables are told when a data directory is made, so the template is for those as they are written. */
function install(directory: string, data: string): void {
  const options = { ...identity, cwd: directory };
  if (process.argv[2] !== 'lower case') {
    execFileSync('cp', ['-R', '--reflink=auto', templateOf(folder), data], options);
    return;
  }
  const users = join(directory, 'users.sql');
  writeFileSync(users, initialUserSql, { mode: 0o644 });
  const [file, ...args] = serverCommand(folder);
  const first = [
    '--initialize-insecure',
    `--datadir=${data}`,
    `--init-file=${users}`,
    ...tableNames,
    ...serverSettings,
  ];
  execFileSync(file, [...args, ...first], { ...options, stdio: 'ignore' });
}

await hold({
  name: 'MySQL',
  user: initialUser,
  install,
  command: serverCommand(folder),
  settings: [
    ...serverSettings,
    ...['--mysqlx=OFF', '--performance-schema=OFF', '--log-error-verbosity=1'],
    // To make the platform's tables takes a third less of the processor's time where each has no file of its own.
    '--innodb-file-per-table=OFF',
    '--innodb-log-writer-threads=OFF',
  ],
});
