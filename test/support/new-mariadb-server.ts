/** A process of its own that holds one throwaway MariaDB of the newest release. Started by new-mariadb.ts; not meant to be imported. */
import { execFileSync } from 'node:child_process';
import { hold, identity } from './mysql-holder.ts';
import { serverCommand, templateOf, unpackedFolder } from './unpacked-mysql.ts';

const folder = unpackedFolder('mariadb');

await hold({
  name: 'MariaDB',
  user: 'root',
  install(directory, data) {
    execFileSync('cp', ['-R', '--reflink=auto', templateOf(folder), data], { ...identity, cwd: directory });
  },
  command: serverCommand(folder, 'mariadb'),
  settings: ['--innodb-log-file-size=16M', '--log-warnings=0'],
});
