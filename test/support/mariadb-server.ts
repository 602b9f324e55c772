/** A process of its own that holds one throwaway MariaDB server. Started by `startMariadb` in mariadb.ts; not meant to be imported. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { hold, identity } from './mysql-holder.ts';

/** Makes a data directory. Where several are made at once it fails now and then, and does not the next time. */
function install(directory: string, data: string, tries = 3): void {
  const names = ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'];
  try {
    execFileSync('mariadb-install-db', names, { ...identity, cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    if (tries === 1) throw error;
    rmSync(data, { recursive: true, force: true });
    install(directory, data, tries - 1);
  }
}

await hold({
  name: 'MariaDB',
  user: 'root',
  install,
  command: ['/usr/sbin/mariadbd', '--no-defaults'],
  settings: ['--innodb-log-file-size=16M', '--log-warnings=0'],
});
