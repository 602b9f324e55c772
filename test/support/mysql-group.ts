/** A MySQL group of two real servers with one primary, where the machine has what it takes. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type ServerGroup, startGroup } from './galera.ts';
import { noMysql, withoutMysql } from './mysql.ts';
import { unpackedFolder } from './unpacked-mysql.ts';

const plugin = join(unpackedFolder(), 'root/usr/lib/mysql/plugin/group_replication.so');

/** True where no group can be started. */
export const noMysqlGroup = noMysql || !existsSync(plugin);

/** Behind the names of tests that need one: why they are skipped, when they are. */
export const withoutMysqlGroup = noMysqlGroup ? withoutMysql || ' (skipped: MySQL has no Group Replication)' : '';

/** Starts the group; takes some ten seconds. The first of its servers is the primary. */
export function startMysqlGroup(): Promise<ServerGroup> {
  return startGroup('mysql-group-server.ts');
}
