/**
 * A process of its own that holds a MySQL group of two servers (Group Replication, one primary). Started by `startMysqlGroup` in
 * mysql-group.ts; not meant to be imported. The second node learns everything from the log of the first.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { freePort } from './free-port.ts';
import { identity, nobody } from './mysql-holder.ts';
import { initialUser, serverCommand, serverSettings, templateOf, unpackedFolder } from './unpacked-mysql.ts';

const folder = unpackedFolder();
const groupName = 'a1b2c3d4-0000-4000-8000-000000000001';
const [user = '', password = ''] = initialUser.split(':');
const isRoot = process.getuid?.() === 0;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
const directory = mkdtempSync(join(isRoot ? '/tmp' : tmpdir(), 'platform-group-'));
const nodes: ChildProcess[] = [];
try {
  const parentGone = once(process.stdin.resume(), 'close');
  if (isRoot) chownSync(directory, nobody, nobody);
  const ports = await Promise.all([0, 1].map(async () => ({ own: await freePort(), group: await freePort() })));
  const seeds = ports.map(({ group }) => `127.0.0.1:${group}`).join();
  const urls = ports.map(({ own }) => `mysql://${initialUser}@127.0.0.1:${own}/mysql`);
  for (const [place, { own, group }] of ports.entries()) nodes.push(startNode(place, own, group, seeds));
  for (const [place, url] of urls.entries()) await joinGroup(url, nodes[place], place === 0);
  process.stdout.write(`${JSON.stringify({ urls, pids: nodes.map(({ pid }) => pid) })}\n`);
  await parentGone;
} finally {
  for (const node of nodes) if (node.exitCode === null && node.signalCode === null) node.kill('SIGKILL');
  await Promise.all(nodes.map((node) => node.exitCode ?? node.signalCode ?? once(node, 'exit')));
  rmSync(directory, { recursive: true, force: true });
}
process.exit();

function startNode(place: number, own: number, group: number, seeds: string): ChildProcess {
  const data = join(directory, `data${place}`);
  const temporary = join(directory, `tmp${place}`);
  mkdirSync(temporary);
  if (isRoot) chownSync(temporary, nobody, nobody);
  execFileSync('cp', ['-R', '--reflink=auto', templateOf(folder), data], { ...identity, cwd: directory });
  // Each server makes its own number.
  rmSync(join(data, 'auto.cnf'), { force: true });
  const [file, ...args] = serverCommand(folder);
  return spawn(
    file ?? '',
    [
      ...args,
      ...[`--datadir=${data}`, `--tmpdir=${temporary}`, `--socket=${join(temporary, 'socket')}`, `--port=${own}`],
      ...['--bind-address=127.0.0.1', '--skip-name-resolve', '--innodb-buffer-pool-size=48M', '--mysqlx=OFF'],
      ...['--innodb-flush-log-at-trx-commit=0', '--innodb-doublewrite=0', '--sync-binlog=0', '--log-bin=log'],
      ...[
        `--server-id=${place + 1}`,
        '--gtid-mode=ON',
        '--enforce-gtid-consistency=ON',
        `--log-error=${temporary}/log`,
      ],
      ...['--report-host=127.0.0.1', `--report-port=${own}`],
      ...[`--plugin-dir=${join(folder, 'root/usr/lib/mysql/plugin')}`, '--plugin-load-add=group_replication.so'],
      ...[`--loose-group-replication-group-name=${groupName}`, '--loose-group-replication-start-on-boot=OFF'],
      ...[
        `--loose-group-replication-local-address=127.0.0.1:${group}`,
        `--loose-group-replication-group-seeds=${seeds}`,
      ],
      ...['--loose-group-replication-recovery-get-public-key=ON', '--loose-group-replication-ip-allowlist=127.0.0.1/8'],
      ...['--loose-group-replication-member-expel-timeout=0', ...serverSettings],
    ],
    { ...identity, cwd: directory, stdio: 'ignore' },
  );
}

/** Makes a server a member of the group, the first one by founding it, and waits until it is online. */
async function joinGroup(uri: string, node: ChildProcess | undefined, isFirst: boolean): Promise<void> {
  const connection = await connected(uri, node);
  const ask = async (sql: string) => (await connection.query<mysql.RowDataPacket[]>(sql))[0];
  await ask('RESET BINARY LOGS AND GTIDS');
  await ask(
    `CHANGE REPLICATION SOURCE TO SOURCE_USER='${user}', SOURCE_PASSWORD='${password}' FOR CHANNEL 'group_replication_recovery'`,
  );
  if (isFirst) await ask('SET GLOBAL group_replication_bootstrap_group = ON');
  await ask('START GROUP_REPLICATION');
  if (isFirst) await ask('SET GLOBAL group_replication_bootstrap_group = OFF');
  const state =
    'SELECT MEMBER_STATE AS state FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid';
  for (const started = Date.now(); Date.now() - started < 60_000; await sleep(100)) {
    if ((await ask(state))[0]?.state === 'ONLINE') return connection.end();
  }
  throw new Error('A server is not online in its group within a minute.');
}

async function connected(uri: string, node: ChildProcess | undefined): Promise<mysql.Connection> {
  for (const started = Date.now(); Date.now() - started < 30_000; await sleep(50)) {
    if (node?.exitCode !== null) break;
    const connection = await mysql.createConnection({ uri }).catch(() => null);
    if (connection !== null) return connection;
  }
  throw new Error(`A server of the group does not answer; its exit code is ${node?.exitCode}.`);
}
