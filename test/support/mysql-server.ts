/** A process of its own that holds one throwaway MySQL server. Started by `startMysql` in mysql.ts; not meant to be imported. */
import { execFileSync } from 'node:child_process';
import { hold, identity } from './mysql-holder.ts';
import { initialUser, serverCommand, serverSettings, templateOf, unpackedFolder } from './unpacked-mysql.ts';

const folder = unpackedFolder();

await hold({
  name: 'MySQL',
  user: initialUser,
  // What a server is given at first takes seconds to make, and is the same for all.
  install: (directory, data) =>
    void execFileSync('cp', ['-R', '--reflink=auto', templateOf(folder), data], { ...identity, cwd: directory }),
  command: serverCommand(folder),
  settings: [...serverSettings, '--mysqlx=OFF', '--performance-schema=OFF', '--log-error-verbosity=1'],
});
