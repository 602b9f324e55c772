/** One MySQL server of several, with a log of changes that others follow. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { identity, nobody } from './mysql-holder.ts';
import { initialUser, serverCommand, serverSettings, templateOf, unpackedFolder } from './unpacked-mysql.ts';

const unpacked = unpackedFolder();
const groupName = 'a1b2c3d4-0000-4000-8000-000000000001';
const [user = '', password = ''] = initialUser.split(':');
const temporaryOf = (directory: string, place: number): string => join(directory, `tmp${place}`);

/** A user who may do everything on a server at a port. */
export function mysqlNodeUrl(port: number): string {
  return `mysql://${initialUser}@127.0.0.1:${port}/mysql`;
}

/** Makes the data directory of a server. */
export function installMysqlNode(directory: string, place: number): void {
  const data = join(directory, `data${place}`);
  mkdirSync(temporaryOf(directory, place));
  if ('uid' in identity) chownSync(temporaryOf(directory, place), nobody, nobody);
  execFileSync('cp', ['-R', '--reflink=auto', templateOf(unpacked), data], { ...identity, cwd: directory });
  // Each server makes its own number.
  rmSync(join(data, 'auto.cnf'), { force: true });
}

/** Starts a server. */
export function startMysqlNode(
  directory: string,
  place: number,
  port: number,
  settings: readonly string[],
): ChildProcess {
  const temporary = temporaryOf(directory, place);
  const [file, ...args] = serverCommand(unpacked);
  const all = [
    ...[`--datadir=${join(directory, `data${place}`)}`, `--tmpdir=${temporary}`],
    ...[`--socket=${join(temporary, 'socket')}`, `--port=${port}`, '--bind-address=127.0.0.1', '--skip-name-resolve'],
    ...['--innodb-buffer-pool-size=48M', '--mysqlx=OFF', '--innodb-flush-log-at-trx-commit=0'],
    ...['--innodb-doublewrite=0', '--sync-binlog=0', '--log-bin=log', `--server-id=${place + 1}`, '--gtid-mode=ON'],
    ...['--enforce-gtid-consistency=ON', `--log-error=${temporary}/log`],
    ...['--report-host=127.0.0.1', `--report-port=${port}`],
  ];
  return spawn(file ?? '', [...args, ...all, ...settings, ...serverSettings], {
    ...identity,
    cwd: directory,
    stdio: 'ignore',
  });
}

/** Settings of a member of a group; `groups` are the ports that members talk by, its own first. */
export function groupSettings(own: number, groups: readonly number[]): readonly string[] {
  return [
    ...[`--plugin-dir=${join(unpacked, 'root/usr/lib/mysql/plugin')}`, '--plugin-load-add=group_replication.so'],
    ...[`--loose-group-replication-group-name=${groupName}`, '--loose-group-replication-start-on-boot=OFF'],
    `--loose-group-replication-local-address=127.0.0.1:${own}`,
    `--loose-group-replication-group-seeds=${groups.map((port) => `127.0.0.1:${port}`).join()}`,
    ...['--loose-group-replication-recovery-get-public-key=ON', '--loose-group-replication-ip-allowlist=127.0.0.1/8'],
    '--loose-group-replication-member-expel-timeout=0',
  ];
}

const memberSql =
  'SELECT MEMBER_STATE AS state FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid';

/** Makes a server a member of the group, the first one by founding it, and waits until it is online. */
export async function joinMysqlGroup(uri: string, node: ChildProcess | undefined, isFirst: boolean): Promise<void> {
  const { ask, end } = await mysqlAnswers(uri, node);
  await ask(
    `CHANGE REPLICATION SOURCE TO SOURCE_USER='${user}', SOURCE_PASSWORD='${password}' FOR CHANNEL 'group_replication_recovery'`,
  );
  if (isFirst) await ask('SET GLOBAL group_replication_bootstrap_group = ON');
  await ask('START GROUP_REPLICATION');
  if (isFirst) await ask('SET GLOBAL group_replication_bootstrap_group = OFF');
  for (const started = Date.now(); Date.now() - started < 60_000; await sleep(100)) {
    if ((await ask(memberSql))[0]?.state === 'ONLINE') return end();
  }
  throw new Error('A server is not online in its group within a minute.');
}

/** Has a server follow another one, and take no writes of its own. */
export async function followMysql(uri: string, node: ChildProcess | undefined, sourcePort: number): Promise<void> {
  const { ask, end } = await mysqlAnswers(uri, node);
  await ask(`CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=${sourcePort}, SOURCE_USER='${user}',
    SOURCE_PASSWORD='${password}', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1`);
  await ask('SET GLOBAL super_read_only = ON');
  await ask('START REPLICA');
  await end();
}

/** Waits until a server answers. */
export async function mysqlAnswers(uri: string, node: ChildProcess | undefined) {
  for (const started = Date.now(); Date.now() - started < 30_000; await sleep(50)) {
    if (node?.exitCode !== null) break;
    const connection = await mysql.createConnection({ uri }).catch(() => null);
    if (connection === null) continue;
    const ask = async (sql: string) => (await connection.query<mysql.RowDataPacket[]>(sql))[0];
    return { ask, end: () => connection.end() };
  }
  throw new Error(`A server does not answer; its exit code is ${node?.exitCode}.`);
}
