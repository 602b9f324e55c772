/** PostgreSQL with two standbys, and PgBouncer: scale-out notes, section 11, `pg`. */
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Platform } from '../support/platform.ts';
import { poolerVersion, startPooler } from '../support/pooler.ts';
import { withClient } from '../support/postgres.ts';
import { countStatements } from '../support/proxy.ts';
import { withoutRedis } from '../support/redis.ts';
import { loseOften, readBehindWrites, readMeanwhile, readPaused } from './cases.ts';
import { runContract } from './contract.ts';
import { createOrders, type OrdersProject } from './orders.ts';
import { type Hearing, withdrawRights } from './pooled-rules.ts';
import { type PostgresCluster, postgresMissing, startPostgresCluster } from './postgres-cluster.ts';
import type { CaseRow, Topology } from './report.ts';

/** The topology. */
export const pg: Topology = {
  missing: postgresMissing ?? (poolerVersion === undefined ? 'pgbouncer is not installed' : null),
  async run(folder, isShort) {
    const rows: CaseRow[] = [];
    // The servers run as another user.
    chmodSync(folder, 0o755);
    for (const isSynchronous of isShort ? [true] : [true, false]) {
      const cluster = await startPostgresCluster(mkdtempSync(join(folder, 'cluster-')), isSynchronous);
      try {
        rows.push(...(await runCases(cluster, isSynchronous, isShort)));
      } finally {
        await cluster.stop();
      }
    }
    return rows;
  },
};

/** Address of all servers of a cluster. */
function listOf(cluster: PostgresCluster): string {
  const hosts = cluster.nodes().map(({ url }) => new URL(url).host);
  return `postgres://postgres:postgres@${hosts.sort().join()}/postgres?target_session_attrs=read-write`;
}

async function runCases(
  cluster: PostgresCluster,
  isSynchronous: boolean,
  isShort: boolean,
): Promise<readonly CaseRow[]> {
  const [primary, ...standbys] = cluster.nodes();
  if (primary === undefined) throw new Error('There is no primary.');
  const project = await createOrders(primary.url);
  const replicas = `postgres://postgres:postgres@${standbys.map(({ url }) => new URL(url).host).join()}/postgres`;
  const rows: CaseRow[] = [];
  try {
    if (isSynchronous) {
      rows.push(await runOnAll(cluster, isShort));
      if (!isShort) rows.push(await runByPooler(primary.url));
      const server = await project.start({
        DATABASE_URL: listOf(cluster),
        DATABASE_READ_URL: replicas,
        DATABASE_READ_MAX_LAG: '900ms',
      });
      try {
        await sleep(2_500);
        rows.push(await readBehindWrites(server, isShort ? 500 : 10_000));
        if (!isShort) rows.push(await offload(server, cluster));
        // Both wait most of the time.
        const pausing = isShort ? [] : [pauseReplay(server, cluster, 30_000)];
        rows.push(...(await Promise.all([...pausing, withdrawAll(primary.url, isShort)])).flat());
      } finally {
        await server.stop();
      }
      rows.push(await writeAgainstStandby(project, standbys[0]?.url ?? ''));
    }
    rows.push(...(await failOverOften(project, cluster, isSynchronous, isShort ? 1 : 10)));
    if (isSynchronous) rows.push(await killReplica(project, cluster));
  } finally {
    await project.remove();
  }
  return rows;
}

/** One way of hearing of changes after the other; in short all at once. */
async function withdrawAll(url: string, isShort: boolean): Promise<readonly CaseRow[]> {
  const told: readonly Hearing[] = ['DATABASE_LISTEN_URL', ...(withoutRedis === '' ? (['REDIS'] as const) : [])];
  if (isShort) return [await withdrawRights(url, 10, told)];
  const rows: CaseRow[] = [];
  for (const ways of [[], ...told.map((way) => [way])]) rows.push(await withdrawRights(url, 200, ways));
  return rows;
}

/** Contract tests, which read at once what they have written by a way of their own: standbys have it before COMMIT answers. */
async function runOnAll(cluster: PostgresCluster, isShort: boolean): Promise<CaseRow> {
  const [{ url } = { url: '' }, ...others] = cluster.nodes();
  const change = (...settings: readonly string[]): Promise<unknown> =>
    withClient(url, async (client) => {
      for (const setting of settings) await client.query(`ALTER SYSTEM ${setting}`);
      await client.query('SELECT pg_reload_conf()');
    });
  const read = others.map((other) => new URL(other.url).host);
  await change("SET synchronous_standby_names = '2 (*)'", 'SET synchronous_commit = remote_apply');
  const servers = { write: [new URL(url).host, ...read], read };
  const row = await runContract({ dialect: 'postgres', url, servers }, isShort);
  await change('RESET synchronous_standby_names', 'RESET synchronous_commit');
  return row;
}

/** The same by transactions of a pooler. */
async function runByPooler(url: string): Promise<CaseRow> {
  const pooler = await startPooler(url, 'transaction', 10);
  try {
    const servers = { write: [new URL(pooler.url).host], read: [] };
    return await runContract({ dialect: 'postgres', url, servers, way: 'by PgBouncer' }, false);
  } finally {
    await pooler.stop();
  }
}

const statementsSql = `SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = 'postgres'`;

async function transactionsOn(url: string): Promise<number> {
  const { rows } = await withClient(url, async (client) => {
    await client.query('SELECT pg_stat_force_next_flush()');
    return client.query<{ count: string }>(statementsSql);
  });
  return Number(rows[0]?.count);
}

/** Share of the reads, and of the processor time that they take, that leaves the primary. */
async function offload(server: Platform, cluster: PostgresCluster): Promise<CaseRow> {
  const nodes = cluster.nodes();
  const measure = async (): Promise<readonly (readonly number[])[]> => [
    await Promise.all(nodes.map(({ url }) => transactionsOn(url))),
    nodes.map(({ pid }) => processorMs(pid())),
  ];
  const before = await measure();
  for (let number = 0; number < 4_000; number++) await server.admin('/items/orders?limit=200&fields=*,lines.*');
  // Connections tell what they have done at the latest after a second.
  await sleep(1_500);
  const after = await measure();
  const [reads = 0, time = 0] = after.map((values, kind) => {
    const [onPrimary = 0, ...others] = values.map((value, index) => value - (before[kind]?.[index] ?? 0));
    return 100 * (1 - onPrimary / others.reduce((sum, value) => sum + value, onPrimary));
  });
  return {
    name: '4,000 reads without a token',
    expected: '>= 80 % of them, and of their time, leave the primary',
    measured: `${reads.toFixed(1)} % of reads, ${time.toFixed(1)} % of processor time`,
    isMet: reads >= 80 && time >= 80,
  };
}

const tickMs = 10;

/** Milliseconds that a server and its processes have run; those that have ended count with it. */
function processorMs(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  const ticks = [String(pid), ...children].map((id, index) => {
    const [user = 0, system = 0, ...ended] =
      readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1]?.split(' ').slice(11, 15).map(Number) ?? [];
    return user + system + (index === 0 ? ended.reduce((sum, count) => sum + count, 0) : 0);
  });
  return tickMs * ticks.reduce((sum, count) => sum + count, 0);
}

/** Some time in which one standby applies nothing. */
async function pauseReplay(server: Platform, cluster: PostgresCluster, ms: number): Promise<CaseRow> {
  const [, paused] = cluster.nodes();
  if (paused === undefined) throw new Error('There is no standby.');
  await withClient(paused.url, (client) => client.query('SELECT pg_wal_replay_pause()'));
  const row = await readPaused(server, ms);
  await withClient(paused.url, (client) => client.query('SELECT pg_wal_replay_resume()'));
  return row;
}

async function writeAgainstStandby(project: OrdersProject, url: string): Promise<CaseRow> {
  const proxy = await countStatements(url);
  const waitMs = 1_000;
  const server = await project.start({ DATABASE_URL: proxy.url, DATABASE_FAILOVER_WAIT: `${waitMs}ms` });
  try {
    proxy.reset();
    const start = performance.now();
    const { status } = await server.admin('/items/orders', { method: 'POST', body: { ref: 'x' } });
    const ms = performance.now() - start;
    const begins = proxy.errors().length;
    return {
      name: 'write against a standby',
      expected: '<= 2 BEGINs; 503 within DATABASE_FAILOVER_WAIT + 0.1 s',
      measured: `${begins} BEGINs; ${status} after ${Math.round(ms)} of ${waitMs} ms`,
      isMet: begins <= 2 && status === 503 && ms <= waitMs + 100,
      isLate: begins <= 2 && status === 503,
    };
  } finally {
    await server.stop();
    await proxy.close();
  }
}

async function failOverOften(
  project: OrdersProject,
  cluster: PostgresCluster,
  isSynchronous: boolean,
  count: number,
): Promise<readonly CaseRow[]> {
  const server = await project.start({ DATABASE_URL: listOf(cluster) });
  try {
    return await loseOften(server, {
      name: `${count} failovers, ${isSynchronous ? 'synchronous' : 'asynchronous'}`,
      count,
      isKept: isSynchronous,
      lose: () => cluster.failOver(),
      survivors: async () =>
        cluster
          .nodes()
          .slice(0, 1)
          .map(({ url }) => url),
      restore: () => cluster.rebuild(),
    });
  } finally {
    await server.stop();
  }
}

async function killReplica(project: OrdersProject, cluster: PostgresCluster): Promise<CaseRow> {
  const [, killed, other] = cluster.nodes();
  if (killed === undefined || other === undefined) throw new Error('There are no standbys.');
  const hosts = [killed, other].map(({ url }) => new URL(url).host).join();
  const server = await project.start({
    DATABASE_URL: listOf(cluster),
    DATABASE_READ_URL: `postgres://postgres:postgres@${hosts}/postgres`,
  });
  try {
    await sleep(2_500);
    return await readMeanwhile('replica killed', server, () => killed.kill());
  } finally {
    await server.stop();
  }
}
