/** PostgreSQL with two standbys, and PgBouncer: scale-out notes, section 11, `pg`. */
import { chmodSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Platform } from '../support/platform.ts';
import { poolerVersion } from '../support/pooler.ts';
import { withClient } from '../support/postgres.ts';
import { countStatements } from '../support/proxy.ts';
import { createOrders, examineOrders, type OrdersProject, startWriters } from './orders.ts';
import { withdrawRights } from './pooled-rules.ts';
import { type PostgresCluster, postgresMissing, startPostgresCluster } from './postgres-cluster.ts';
import { type CaseRow, percentile, type Topology } from './report.ts';

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
      const server = await project.start({
        DATABASE_URL: listOf(cluster),
        DATABASE_READ_URL: replicas,
        DATABASE_READ_MAX_LAG: '900ms',
      });
      try {
        await sleep(2_500);
        rows.push(await readBehindWrites(server, isShort ? 500 : 10_000));
        if (!isShort) rows.push(await offload(server, cluster), await pauseReplay(server, cluster, 30_000));
      } finally {
        await server.stop();
      }
      rows.push(await writeAgainstStandby(project, standbys[0]?.url ?? ''));
      rows.push(await withdrawRights(primary.url, isShort ? 10 : 200));
    }
    rows.push(...(await failOverOften(project, cluster, isSynchronous, isShort ? 1 : 10)));
    if (isSynchronous) rows.push(await killReplica(project, cluster));
  } finally {
    await project.remove();
  }
  return rows;
}

/** Writes, and reads at once what was written, with the token of the answer; by ten at once. */
async function readBehindWrites(server: Platform, count: number): Promise<CaseRow> {
  let stale = 0;
  let number = 0;
  const waits: number[] = [];
  const work = async (): Promise<void> => {
    while (number++ < count) {
      const ref = `read ${number}`;
      const written = await server.admin('/items/orders?fields=id', { method: 'POST', body: { ref } });
      const token = written.headers.get('x-consistency-token') ?? '';
      const path = `/items/orders/${written.json.data.id}?fields=ref`;
      const read = (): ReturnType<Platform['admin']> =>
        server.admin(path, { headers: { 'x-consistency-token': token } });
      const start = performance.now();
      if ((await read()).json.data?.ref !== ref) stale++;
      const first = performance.now();
      await read();
      // The second read waits for nothing any more.
      waits.push(Math.max(0, first - start - (performance.now() - first)));
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  const [p50, p99] = [percentile(waits, 50), percentile(waits, 99)];
  return {
    name: `${count} reads behind writes, with token`,
    expected: '0 stale; wait p50 <= 1 ms, p99 <= 10 ms',
    measured: `${stale} stale; p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`,
    isMet: stale === 0 && p50 <= 1 && p99 <= 10,
  };
}

const statementsSql = `SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = 'postgres'`;

async function transactionsOn(url: string): Promise<number> {
  const { rows } = await withClient(url, async (client) => {
    await client.query('SELECT pg_stat_force_next_flush()');
    return client.query<{ count: string }>(statementsSql);
  });
  return Number(rows[0]?.count);
}

/** Share of the statements of reads that leave the primary. */
async function offload(server: Platform, cluster: PostgresCluster): Promise<CaseRow> {
  const urls = cluster.nodes().map(({ url }) => url);
  const before = await Promise.all(urls.map(transactionsOn));
  for (let number = 0; number < 2_000; number++) await server.admin('/items/orders?limit=5');
  // Connections tell what they have done at the latest after a second.
  await sleep(1_500);
  const after = await Promise.all(urls.map(transactionsOn));
  const [onPrimary = 0, ...others] = after.map((count, index) => count - (before[index] ?? 0));
  const all = onPrimary + others.reduce((sum, count) => sum + count, 0);
  const share = 100 * (1 - onPrimary / all);
  return {
    name: '2,000 reads without a token',
    expected: '>= 80 % of them leave the primary',
    measured: `${share.toFixed(1)} %`,
    isMet: share >= 80,
  };
}

/** A read by a standby that stands still is one that does not have what was written two seconds before. */
async function pauseReplay(server: Platform, cluster: PostgresCluster, ms: number): Promise<CaseRow> {
  const [, paused] = cluster.nodes();
  if (paused === undefined) throw new Error('There is no standby.');
  await withClient(paused.url, (client) => client.query('SELECT pg_wal_replay_pause()'));
  const start = performance.now();
  let late = 0;
  let errors = 0;
  const written: { readonly ref: string; readonly at: number }[] = [];
  while (performance.now() - start < ms) {
    const ref = `paused ${performance.now()}`;
    await server.admin('/items/orders?fields=id', { method: 'POST', body: { ref } });
    written.push({ ref, at: performance.now() });
    const { status, json } = await server.admin('/items/orders?fields=ref&sort=-id&limit=1');
    if (status !== 200) errors++;
    const newest = written.find((entry) => entry.ref === json.data?.[0]?.ref)?.at ?? start;
    if (performance.now() - start > 2_500 && performance.now() - newest > 2_000) late++;
    await sleep(20);
  }
  await withClient(paused.url, (client) => client.query('SELECT pg_wal_replay_resume()'));
  return {
    name: `replay paused ${ms / 1000} s`,
    expected: 'from 2 s on no read there, 0 errors',
    measured: `${late} late reads, ${errors} errors`,
    isMet: late === 0 && errors === 0,
  };
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
  const found = { acknowledged: 0, lost: 0, twice: 0, partial: 0, slowest: 0 };
  try {
    for (let round = 0; round < count; round++) {
      const writers = startWriters(server, 8, `${isSynchronous} ${round}`);
      await sleep(1_000);
      const promotedAt = await cluster.failOver();
      await sleep(1_500);
      await writers.stop();
      const [primary] = cluster.nodes();
      const { acknowledged } = writers;
      const examined = await examineOrders(primary?.url ?? '', acknowledged);
      found.acknowledged += acknowledged.size;
      found.lost += examined.lost;
      found.twice = examined.twice;
      found.partial = examined.partial;
      found.slowest = Math.max(
        found.slowest,
        (writers.firstAfter(promotedAt) ?? Number.POSITIVE_INFINITY) - promotedAt,
      );
      await cluster.rebuild();
    }
  } finally {
    await server.stop();
  }
  const { acknowledged, lost, twice, partial, slowest } = found;
  const isWhole = twice === 0 && partial === 0;
  return [
    {
      name: `${count} failovers, ${isSynchronous ? 'synchronous' : 'asynchronous'}`,
      expected: isSynchronous ? '0 acknowledged lost, 0 twice, 0 partial' : 'losses counted; 0 twice, 0 partial',
      measured: `${lost} of ${acknowledged} lost, ${twice} twice, ${partial} partial`,
      isMet: isWhole && (lost === 0 || !isSynchronous),
    },
    {
      name: 'first write after a promotion',
      expected: '<= 1 s',
      measured: `${Math.round(slowest)} ms at most`,
      isMet: slowest <= 1_000,
    },
  ];
}

async function killReplica(project: OrdersProject, cluster: PostgresCluster): Promise<CaseRow> {
  const [, killed, other] = cluster.nodes();
  if (killed === undefined || other === undefined) throw new Error('There are no standbys.');
  const hosts = [killed, other].map(({ url }) => new URL(url).host).join();
  const server = await project.start({
    DATABASE_URL: listOf(cluster),
    DATABASE_READ_URL: `postgres://postgres:postgres@${hosts}/postgres`,
  });
  let failed = 0;
  let count = 0;
  try {
    await sleep(2_500);
    const end = performance.now() + 4_000;
    const read = async (): Promise<void> => {
      while (performance.now() < end) {
        count++;
        if ((await server.admin('/items/orders?limit=5')).status !== 200) failed++;
      }
    };
    const reading = Promise.all(Array.from({ length: 4 }, read));
    await sleep(1_000);
    await killed.kill();
    await reading;
  } finally {
    await server.stop();
  }
  return { name: 'replica killed', expected: '0 failed reads', measured: `${failed} of ${count}`, isMet: failed === 0 };
}
