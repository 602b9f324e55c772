/** One node of a Galera cluster: a MariaDB server with a data directory of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { freePort } from './free-port.ts';
import { identity, nobody } from './mysql-holder.ts';

const provider = '/usr/lib/galera/libgalera_smm.so';
// Shorter ones take nodes of a busy machine for lost.
const timing =
  'evs.keepalive_period=PT0.5S;evs.suspect_timeout=PT2S;evs.inactive_timeout=PT5S;evs.install_timeout=PT5S';

/** Ports of a node: for clients, for its group, and for the state that it is sent. */
export interface GaleraPorts {
  readonly own: number;
  readonly group: number;
  readonly state: number;
  readonly copy: number;
}

/** Start of a node. */
export interface GaleraStart {
  readonly directory: string;
  readonly place: number;
  readonly ports: GaleraPorts;
  /** Ports of the groups of nodes that run already; none founds the cluster. */
  readonly members: readonly number[];
  readonly settings?: readonly string[];
}

/** Finds free ports. */
export async function galeraPorts(): Promise<GaleraPorts> {
  return { own: await freePort(), group: await freePort(), state: await freePort(), copy: await freePort() };
}

/** Data directory of a node. */
export function galeraData(directory: string, place: number): string {
  return join(directory, `data${place}`);
}

/** Makes the data directory of the first node. */
export function installGalera(directory: string): void {
  const data = galeraData(directory, 0);
  const names = ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'];
  execFileSync('mariadb-install-db', names, { ...identity, cwd: directory, stdio: 'ignore' });
}

/** Starts a node. */
export function startGaleraNode({ directory, place, ports, members, settings = [] }: GaleraStart): ChildProcess {
  const data = galeraData(directory, place);
  const temporary = join(directory, `tmp${place}`);
  for (const folder of [data, temporary]) {
    mkdirSync(folder, { recursive: true });
    if ('uid' in identity) chownSync(folder, nobody, nobody);
  }
  const options = [
    `base_port=${ports.group}`,
    `gmcast.listen_addr=tcp://127.0.0.1:${ports.group}`,
    `ist.recv_addr=127.0.0.1:${ports.state}`,
    'gcache.size=16M',
    'pc.recovery=FALSE',
    timing,
  ].join(';');
  const addresses = members.map((group) => `127.0.0.1:${group}`).join();
  const args = [
    ...['--no-defaults', `--datadir=${data}`, `--tmpdir=${temporary}`, `--socket=${join(temporary, 'socket')}`],
    ...[`--port=${ports.own}`, '--bind-address=127.0.0.1', '--binlog-format=ROW', '--innodb-autoinc-lock-mode=2'],
    ...['--innodb-flush-log-at-trx-commit=0', '--innodb-doublewrite=0', '--innodb-buffer-pool-size=48M'],
    ...['--innodb-log-file-size=16M', '--log-warnings=0', `--log-error=${join(temporary, 'log')}`],
    ...['--wsrep-on=ON', `--wsrep-provider=${provider}`, `--wsrep-cluster-address=gcomm://${addresses}`],
    ...['--wsrep-node-address=127.0.0.1', `--wsrep-node-name=n${place}`],
    '--wsrep-sst-method=rsync',
    `--wsrep-sst-receive-address=127.0.0.1:${ports.copy}`,
    `--wsrep-provider-options=${options}`,
    ...settings,
  ];
  return spawn('/usr/sbin/mariadbd', args, { ...identity, cwd: directory, stdio: 'ignore' });
}

/** Waits until a node has all that the others have. */
export async function galeraSynced(uri: string, node: ChildProcess | undefined): Promise<void> {
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
