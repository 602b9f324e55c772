/** Three servers behind haproxy, nginx and Varnish, with Redis: scale-out notes, section 11, `servers`. */
import { chmodSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';
import { asking, type Platform } from '../support/platform.ts';
import { withClient } from '../support/postgres.ts';
import { startRedis } from '../support/redis.ts';
import { readCachedNotes } from './cached-notes.ts';
import { createNotes, type NotesProject, noteCount, tokenOf } from './notes.ts';
import { type PostgresCluster, postgresMissing, startPostgresCluster } from './postgres-cluster.ts';
import { freeProxyPorts, type Proxies, proxiesMissing, startProxies } from './proxies.ts';
import { type CaseRow, type Topology, untilTrue } from './report.ts';

/** The topology. */
export const servers: Topology = {
  missing: postgresMissing ?? proxiesMissing,
  async run(folder, isShort) {
    // The servers run as another user.
    chmodSync(folder, 0o755);
    const cluster = await startPostgresCluster(mkdtempSync(join(folder, 'cluster-')), false);
    try {
      return await runCases(folder, cluster, isShort);
    } finally {
      await cluster.stop();
    }
  },
};

/** Servers on fixed ports, each of which can be replaced. */
interface Servers {
  restart(index: number): Promise<void>;
  stop(): Promise<void>;
}

async function startServers(
  project: NotesProject,
  ports: readonly number[],
  environment: Readonly<Record<string, string>>,
): Promise<Servers> {
  const start = (port: number): Promise<Platform> => project.start({ ...environment, PORT: String(port) });
  const running = await Promise.all(ports.map(start));
  return {
    async restart(index) {
      await running[index]?.stop();
      running[index] = await start(ports[index] ?? 0);
    },
    async stop() {
      await Promise.all(running.map((server) => server.stop()));
    },
  };
}

async function runCases(folder: string, cluster: PostgresCluster, isShort: boolean): Promise<readonly CaseRow[]> {
  const [primary, ...standbys] = cluster.nodes();
  if (primary === undefined) throw new Error('There is no server.');
  const project = await createNotes(primary.url);
  const own = await Promise.all([freePort(), freePort(), freePort()]);
  const ports = await freeProxyPorts();
  const purged = { CACHE_PURGE_URL: `http://127.0.0.1:${ports.varnish}/`, DATABASE_POOL_MAX: '40' };
  const replicas = `postgres://postgres:postgres@${standbys.map(({ url }) => new URL(url).host).join()}/postgres`;
  const rows: CaseRow[] = [];
  const proxies = await startProxies(mkdtempSync(join(folder, 'proxies-')), ports, own);
  try {
    const reading = await startServers(project, own, { ...purged, DATABASE_READ_URL: replicas });
    try {
      await isReady(proxies);
      rows.push(...(await whileOneLags(cluster, () => readCachedNotes(proxies.varnish, isShort ? 1_500 : 10_000))));
    } finally {
      await reading.stop();
    }
    const rolling = await startServers(project, own, { ...purged, SHUTDOWN_DELAY: '1s' });
    try {
      await isReady(proxies);
      const count = isShort ? 1_000 : 10_000;
      rows.push(await restartAll('haproxy', proxies.haproxy, rolling, count));
      rows.push(await restartAll('nginx', proxies.nginx, rolling, count));
      rows.push(await restartUnderSlowOnes(proxies.haproxy, rolling, primary.url, isShort ? 30 : 100));
    } finally {
      await rolling.stop();
    }
    rows.push(...(await loseRedis(project, proxies, own)));
  } finally {
    await proxies.stop();
    await project.remove();
  }
  return rows;
}

async function isReady({ haproxy, varnish }: Proxies): Promise<void> {
  for (const url of [haproxy, varnish]) {
    for (let tries = 0; (await asking(url).ask('/items/notes')).status !== 200; tries++) {
      if (tries === 200) throw new Error('No server answers behind the proxies.');
      await sleep(50);
    }
  }
}

/** Runs something while a standby stands still, whose rows would be old. */
async function whileOneLags<T>(cluster: PostgresCluster, run: () => Promise<T>): Promise<T> {
  const [, paused] = cluster.nodes();
  if (paused === undefined) throw new Error('There is no standby.');
  await withClient(paused.url, (client) => client.query('SELECT pg_wal_replay_pause()'));
  try {
    return await run();
  } finally {
    await withClient(paused.url, (client) => client.query('SELECT pg_wal_replay_resume()'));
  }
}

/** Restarts one server after the other while requests come. */
async function restartAll(name: string, url: string, rolling: Servers, count: number): Promise<CaseRow> {
  const { ask } = asking(url);
  const failures = new Map<string, number>();
  let sent = 0;
  let isOver = false;
  const send = async (): Promise<void> => {
    while (sent < count || !isOver) {
      const number = sent++;
      const id = number % noteCount;
      const token = tokenOf('editor');
      const answer = await (number % 10 === 0
        ? ask(`/items/notes/${id}`, { method: 'PATCH', token, body: { version: number } })
        : ask(number % 2 === 0 ? '/items/notes' : `/items/notes/${id}`, { token })
      ).catch((error: unknown) => ({ status: error instanceof Error ? error.message : 'no answer', text: '' }));
      if (answer.status === 200) continue;
      const failure = `${answer.status} ${answer.text.replaceAll(/\s+/g, ' ').slice(0, 200)}`;
      failures.set(failure, (failures.get(failure) ?? 0) + 1);
    }
  };
  const sending = Promise.all(Array.from({ length: 6 }, send));
  await sleep(500);
  for (const index of [0, 1, 2]) {
    await rolling.restart(index);
    await sleep(700);
  }
  isOver = true;
  await sending;
  const failed = [...failures.values()].reduce((sum, number) => sum + number, 0);
  const reasons = [...failures].map(([reason, number]) => `${number} × ${reason}`).join(', ');
  return {
    name: `rolling restart behind ${name}, ${count.toLocaleString('en')} requests and more`,
    expected: '0 failed',
    measured: `${failed} of ${sent} failed${reasons === '' ? '' : `: ${reasons}`}`,
    isMet: failed === 0,
  };
}

/** Restarts all servers while requests of three seconds are under way: the database has begun them all. */
async function restartUnderSlowOnes(
  url: string,
  rolling: Servers,
  databaseUrl: string,
  count: number,
): Promise<CaseRow> {
  const { admin } = asking(url);
  let ended = 0;
  const running = Array.from({ length: count }, () =>
    admin('/functions/slow', { method: 'POST', body: {} }).finally(() => ended++),
  );
  const answered = Promise.allSettled(running);
  await untilTrue(async () => ended + (await sleepers(databaseUrl)) >= count);
  await Promise.all([0, 1, 2].map((index) => rolling.restart(index)));
  const results = await answered;
  const good = results.filter((result) => result.status === 'fulfilled' && result.value.status === 200).length;
  return {
    name: `all servers stopped under ${count} requests of 3 s`,
    expected: `${count} answered`,
    measured: `${good} answered`,
    isMet: good === count,
  };
}

async function sleepers(databaseUrl: string): Promise<number> {
  const sql = "SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
  const { rows } = await withClient(databaseUrl, (client) => client.query<{ count: number }>(sql));
  return rows[0]?.count ?? 0;
}

const points = 50;

/** Kills Redis, and starts it again, while requests come. */
async function loseRedis(
  project: NotesProject,
  { haproxy }: Proxies,
  ports: readonly number[],
): Promise<readonly CaseRow[]> {
  const port = await freePort();
  let redis = await startRedis(port);
  const limited = await startServers(project, ports, {
    ...{ RATE_LIMITER_ENABLED: 'true', RATE_LIMITER_POINTS: String(points), RATE_LIMITER_DURATION: '1m' },
    ...{ REDIS: redis.url, IP_TRUST_PROXY: '127.0.0.1' },
  });
  const { ask } = asking(haproxy);
  let failed = 0;
  let sent = 0;
  /** Sends many requests of one client at once, and counts those that are let through. */
  const burst = async (client: string, url = haproxy): Promise<number> => {
    const headers = { 'x-forwarded-for': client };
    const request = asking(url).ask;
    const statuses = await Promise.all(
      Array.from({ length: 6 * points }, async () => (await request('/items/notes/0', { headers })).status),
    );
    sent += statuses.length;
    failed += statuses.filter((status) => status !== 200 && status !== 429).length;
    return statuses.filter((status) => status === 200).length;
  };
  try {
    for (let tries = 0; tries < 200 && (await ask('/server/ping')).status !== 200; tries++) await sleep(50);
    await sleep(1_000);
    const together = await burst('203.0.113.1');
    // In the middle of requests.
    const during = burst('203.0.113.2');
    await redis.stop();
    await during;
    // Asked without haproxy, which may take a busy server out for a moment.
    const alone = await Promise.all(ports.map((own) => burst('203.0.113.3', `http://127.0.0.1:${own}`)));
    redis = await startRedis(port);
    await sleep(1_500);
    const again = await burst('203.0.113.4');
    const isShared = (count: number): boolean => count >= points && count <= 1.2 * points;
    return [
      {
        name: 'REDIS killed and back',
        expected: '0 failed',
        measured: `${failed} of ${sent} failed`,
        isMet: failed === 0,
      },
      {
        name: `limit of ${points} for a client of three servers`,
        expected: `${points} together, ${points} of each while REDIS is away, ${points} together again`,
        measured: `${together}, ${alone.join(' + ')}, ${again}`,
        isMet: [together, ...alone, again].every(isShared),
      },
    ];
  } finally {
    await limited.stop();
    await redis.stop();
  }
}
