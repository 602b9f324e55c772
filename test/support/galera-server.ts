/**
 * A process of its own that holds a Galera cluster of three MariaDB servers. Started by `startGalera` in galera.ts; not meant
 * to be imported. The first node makes a data directory; the others are sent it, by rsync.
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

const provider = '/usr/lib/galera/libgalera_smm.so';
const isRoot = process.getuid?.() === 0;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
const directory = mkdtempSync(join(isRoot ? '/tmp' : tmpdir(), 'platform-galera-'));
const nodes: ChildProcess[] = [];
try {
  const parentGone = once(process.stdin.resume(), 'close');
  if (isRoot) chownSync(directory, nobody, nobody);
  const first = join(directory, 'data0');
  const names = ['--no-defaults', `--datadir=${first}`, '--auth-root-authentication-method=normal', '--skip-test-db'];
  execFileSync('mariadb-install-db', names, { ...identity, cwd: directory, stdio: 'ignore' });
  const ports = await Promise.all([0, 1, 2].map(async () => ({ own: await freePort(), group: await freePort() })));
  const urls: string[] = [];
  for (const [place, { own, group }] of ports.entries()) {
    const members = ports.slice(0, place).map((one) => `127.0.0.1:${one.group}`);
    const received = { state: await freePort(), copy: await freePort() };
    nodes.push(startNode(place, own, group, received, members));
    urls.push(`mariadb://root@127.0.0.1:${own}/mysql`);
    await synced(urls[place] ?? '', nodes[place]);
  }
  process.stdout.write(`${JSON.stringify({ urls, pids: nodes.map(({ pid }) => pid) })}\n`);
  await parentGone;
} finally {
  for (const node of nodes) if (node.exitCode === null && node.signalCode === null) node.kill('SIGKILL');
  await Promise.all(nodes.map((node) => node.exitCode ?? node.signalCode ?? once(node, 'exit')));
  rmSync(directory, { recursive: true, force: true });
}
process.exit();

function startNode(
  place: number,
  own: number,
  group: number,
  received: { readonly state: number; readonly copy: number },
  members: readonly string[],
): ChildProcess {
  const data = join(directory, `data${place}`);
  const temporary = join(directory, `tmp${place}`);
  for (const folder of [data, temporary]) {
    mkdirSync(folder, { recursive: true });
    if (isRoot) chownSync(folder, nobody, nobody);
  }
  const timing =
    'evs.keepalive_period=PT0.3S;evs.suspect_timeout=PT1S;evs.inactive_timeout=PT2S;evs.install_timeout=PT2S';
  const options = [
    `base_port=${group}`,
    `gmcast.listen_addr=tcp://127.0.0.1:${group}`,
    `ist.recv_addr=127.0.0.1:${received.state}`,
    'gcache.size=16M',
    'pc.recovery=FALSE',
    timing,
  ].join(';');
  const args = [
    ...['--no-defaults', `--datadir=${data}`, `--tmpdir=${temporary}`, `--socket=${join(temporary, 'socket')}`],
    ...[`--port=${own}`, '--bind-address=127.0.0.1', '--binlog-format=ROW', '--innodb-autoinc-lock-mode=2'],
    ...['--innodb-flush-log-at-trx-commit=0', '--innodb-doublewrite=0', '--innodb-buffer-pool-size=48M'],
    ...['--innodb-log-file-size=16M', '--log-warnings=0', `--log-error=${join(temporary, 'log')}`],
    ...['--wsrep-on=ON', `--wsrep-provider=${provider}`, `--wsrep-cluster-address=gcomm://${members.join()}`],
    ...['--wsrep-node-address=127.0.0.1', `--wsrep-node-name=n${place}`, '--wsrep-sst-method=rsync'],
    `--wsrep-sst-receive-address=127.0.0.1:${received.copy}`,
    `--wsrep-provider-options=${options}`,
  ];
  return spawn('/usr/sbin/mariadbd', args, { ...identity, cwd: directory, stdio: 'ignore' });
}

async function synced(uri: string, node: ChildProcess | undefined): Promise<void> {
  for (const started = Date.now(); Date.now() - started < 60_000; await sleep(100)) {
    if (node?.exitCode !== null) throw new Error(`A node of the cluster ended with exit code ${node?.exitCode}.`);
    try {
      const connection = await mysql.createConnection({ uri });
      const [rows] = await connection.query<mysql.RowDataPacket[]>("SHOW STATUS LIKE 'wsrep_local_state'");
      await connection.end();
      if (rows[0]?.Value === '4') return;
    } catch {
      // Not up yet.
    }
  }
  throw new Error('A node of the cluster is not synced within a minute.');
}
