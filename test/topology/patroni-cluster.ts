/** Patroni with two PostgreSQL servers, etcd and haproxy, all of Debian, in a folder of their own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { withClient } from '../support/postgres.ts';
import { untilTrue } from './report.ts';

const programs = ['/usr/bin/patroni', '/usr/bin/etcd', '/usr/sbin/haproxy', '/usr/lib/postgresql/15/bin/initdb'];
const absent = programs.filter((program) => !existsSync(program));

/** Why there can be none here; null where there can. */
export const patroniMissing: string | null =
  absent.length === 0 ? null : `${absent.map((path) => path.split('/').at(-1)).join(', ')} not installed`;

const nobody = 65534;
const identity = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

/** A cluster whose members elect their primary. */
export interface PatroniCluster {
  /** Addresses of both servers. */
  readonly urls: readonly string[];
  /** Address of the primary, whichever it is, through haproxy. */
  readonly proxied: string;
  /** Index of the primary; -1 where there is none. */
  primary(): Promise<number>;
  /** True once the other member follows a primary, so that no COMMIT there is lost with it. */
  isFollowed(member: number): Promise<boolean>;
  /** Has Patroni give the place of the primary to the other member. */
  switchOver(member: number): Promise<void>;
  /** Ends a member with its server at once. */
  kill(member: number): Promise<void>;
  start(member: number): void;
  stopEtcd(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it, and waits until one member takes writes and the other follows it. */
export async function startPatroni(folder: string): Promise<PatroniCluster> {
  chmodSync(folder, 0o755);
  const [client, peer, proxy] = await Promise.all([freePort(), freePort(), freePort()]);
  const processes = new Map<string, ChildProcess>();
  const begin = (name: string, command: string, args: readonly string[]): void => {
    const child = spawn(command, args, {
      ...identity,
      cwd: folder,
      detached: true,
      stdio: 'ignore',
      env: environment(folder),
    });
    processes.set(name, child);
  };
  const end = async (name: string): Promise<void> => {
    const child = processes.get(name);
    processes.delete(name);
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    killOwn(child.pid);
    await ended;
  };
  const endMember = async (index: number): Promise<void> => {
    await end(`member ${index}`);
    const server = serverOf(join(folder, `data ${index}`));
    if (server !== undefined) killOwn(server);
  };
  if ('uid' in identity) chownSync(folder, nobody, nobody);
  const peerUrl = `http://127.0.0.1:${peer}`;
  const clientUrl = `http://127.0.0.1:${client}`;
  begin('etcd', '/usr/bin/etcd', [
    ...['--name', 'only', '--data-dir', join(folder, 'etcd'), '--log-level', 'error', '--unsafe-no-fsync'],
    ...['--listen-client-urls', clientUrl, '--advertise-client-urls', clientUrl],
    ...[
      '--listen-peer-urls',
      peerUrl,
      '--initial-advertise-peer-urls',
      peerUrl,
      '--initial-cluster',
      `only=${peerUrl}`,
    ],
  ]);
  const members = await Promise.all(
    [0, 1].map(async (index) => ({ index, rest: await freePort(), port: await freePort() })),
  );
  for (const member of members) writeFileSync(join(folder, `${member.index}.yml`), memberFile(folder, client, member));
  writeFileSync(join(folder, 'haproxy.cfg'), proxyFile(proxy, members));
  const start = (index: number): void => begin(`member ${index}`, '/usr/bin/patroni', [join(folder, `${index}.yml`)]);
  const urls = members.map(({ port }) => `postgres://postgres@127.0.0.1:${port}/postgres`);
  const stop = async (): Promise<void> => {
    await Promise.all(members.map(({ index }) => endMember(index)));
    await Promise.all([...processes.keys()].map(end));
  };
  const proxied = `postgres://postgres@127.0.0.1:${proxy}/postgres`;
  try {
    start(0);
    await untilTrue(async () => (await stateOf(urls[0])) === 'primary');
    start(1);
    await untilTrue(() => isFollowed(members[0]?.rest));
    begin('haproxy', '/usr/sbin/haproxy', ['-db', '-q', '-f', join(folder, 'haproxy.cfg')]);
    // Before it has checked them it takes every member for the primary.
    const connections = Array.from({ length: 8 }, () => proxied);
    await untilTrue(async () => (await Promise.all(connections.map(stateOf))).every((state) => state === 'primary'));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    urls,
    proxied,
    async primary() {
      const states = await Promise.all(urls.map(stateOf));
      return states.indexOf('primary');
    },
    isFollowed: (member) => isFollowed(members[member]?.rest),
    async switchOver(member) {
      const body = JSON.stringify({ leader: `member${member}`, candidate: `member${1 - member}` });
      const address = `http://127.0.0.1:${members[member]?.rest}/switchover`;
      const { status } = await fetch(address, { method: 'POST', body });
      if (status !== 200) throw new Error(`Patroni does not switch over: ${status}.`);
    },
    kill: endMember,
    start,
    stopEtcd: () => end('etcd'),
    stop,
  };
}

function environment(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, HOME: folder, PATH: `${process.env.PATH ?? ''}:/usr/lib/postgresql/15/bin` };
}

/** Kills a process that was started here; one that has ended is passed over. */
function killOwn(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** Patroni lets go of the server that it starts, which writes its number down. */
function serverOf(data: string): number | undefined {
  const file = join(data, 'postmaster.pid');
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n', 1)[0]) : undefined;
}

interface Member {
  readonly index: number;
  readonly rest: number;
  readonly port: number;
}

/** JSON is YAML. */
function memberFile(folder: string, etcd: number, { index, rest, port }: Member): string {
  const data = join(folder, `data ${index}`);
  mkdirSync(data, { mode: 0o700 });
  if ('uid' in identity) chownSync(data, nobody, nobody);
  const user = { username: 'postgres', password: 'postgres' };
  return JSON.stringify({
    scope: 'topology',
    name: `member${index}`,
    restapi: { listen: `127.0.0.1:${rest}`, connect_address: `127.0.0.1:${rest}` },
    etcd3: { host: `127.0.0.1:${etcd}` },
    bootstrap: {
      dcs: {
        ...{ ttl: 20, loop_wait: 1, retry_timeout: 3, synchronous_mode: true, primary_start_timeout: 0 },
        postgresql: { use_pg_rewind: true, parameters: { fsync: 'off', wal_keep_size: '256MB', max_connections: 100 } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, { auth: 'trust' }],
    },
    postgresql: {
      ...{ listen: `127.0.0.1:${port}`, connect_address: `127.0.0.1:${port}`, data_dir: data },
      ...{ bin_dir: '/usr/lib/postgresql/15/bin', pgpass: join(folder, `pgpass ${index}`) },
      pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust', 'local all all trust'],
      authentication: { superuser: user, replication: user, rewind: user },
      parameters: { unix_socket_directories: folder, shared_buffers: '32MB' },
    },
  });
}

/** haproxy asks the members which of them is the primary, and cuts connections to one that no longer is. */
function proxyFile(port: number, members: readonly Member[]): string {
  const servers = members.map(({ index, rest, port: own }) => `  server m${index} 127.0.0.1:${own} check port ${rest}`);
  return `defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
listen primary
  bind 127.0.0.1:${port}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
`;
}

/** Asked of Patroni, which notes it some seconds after its server does, and elects no member before that. */
async function isFollowed(rest: number | undefined): Promise<boolean> {
  return fetch(`http://127.0.0.1:${rest}/cluster`).then(
    async (answer) => (await answer.text()).includes('"role": "sync_standby"'),
    () => false,
  );
}

async function stateOf(url: string | undefined): Promise<'primary' | 'standby' | 'away'> {
  return withClient(url ?? '', (client) =>
    client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby'),
  ).then(
    ({ rows }) => (rows[0]?.standby === true ? 'standby' : 'primary'),
    () => 'away',
  );
}
