/** Galera of three MariaDB nodes: scale-out notes, section 11, `galera`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { noGalera } from '../support/galera.ts';
import { away, primary } from '../support/host-told.ts';
import { withMysql } from '../support/mariadb.ts';
import { askAll, loseOften, readBehindWrites, readMeanwhile, untilTold } from './cases.ts';
import { runContract } from './contract.ts';
import { type GaleraCluster, startGaleraCluster } from './galera-cluster.ts';
import { createOrders, examineOrders, type OrdersProject, startWriters } from './orders.ts';
import { type CaseRow, type Topology, untilTrue } from './report.ts';

/** The topology. */
export const galera: Topology = {
  missing: noGalera ? 'mariadb-server, galera-4, rsync or lsof is not installed' : null,
  async run(folder, isShort) {
    const cluster = await startGaleraCluster(folder);
    let project: OrdersProject | undefined;
    try {
      await withMysql(cluster.urls[0] ?? '', (node) => node.query('CREATE DATABASE app CHARACTER SET utf8mb4'));
      project = await createOrders(listOf(cluster, [0]));
      const rows = [await runOnAll(cluster, isShort), await readOnOthers(project, cluster, isShort ? 100 : 3_000)];
      if (!isShort) rows.push(await killReader(project, cluster));
      rows.push(...(await killNodes(project, cluster, isShort ? 1 : 10)));
      rows.push(...(await loseQuorum(project, cluster, isShort ? 2 : 0)));
      return rows;
    } finally {
      await cluster.stop();
      await project?.remove();
    }
  },
};

/** Address of some nodes, for the database of the API. */
function listOf({ urls }: GaleraCluster, places: readonly number[]): string {
  return `mariadb://root@${places.map((place) => new URL(urls[place] ?? '').host).join()}/app`;
}

/** Contract tests, which know keys, and read at once what they have written by a way of their own. */
async function runOnAll(cluster: GaleraCluster, isShort: boolean): Promise<CaseRow> {
  const setAll = (sql: string): Promise<unknown> =>
    Promise.all(cluster.urls.map((url) => withMysql(url, (node) => node.query(sql))));
  await setAll(`SET GLOBAL wsrep_auto_increment_control = OFF; SET GLOBAL auto_increment_increment = 1;
    SET GLOBAL auto_increment_offset = 1; SET GLOBAL wsrep_sync_wait = 1`);
  const [url = '', ...others] = cluster.urls;
  const read = others.map((other) => new URL(other).host);
  const servers = { write: [new URL(url).host, ...read], read };
  const row = await runContract({ dialect: 'mariadb', url, servers }, isShort);
  await setAll('SET GLOBAL wsrep_sync_wait = 0; SET GLOBAL wsrep_auto_increment_control = ON');
  return row;
}

/** Reads by the two nodes that writes do not go to. */
async function readOnOthers(project: OrdersProject, cluster: GaleraCluster, count: number): Promise<CaseRow> {
  const server = await project.start({
    DATABASE_URL: listOf(cluster, [0, 1, 2]),
    DATABASE_READ_URL: listOf(cluster, [1, 2]),
  });
  try {
    await sleep(1_500);
    const before = await Promise.all([1, 2].map((place) => statusOf(cluster, place, 'Com_select')));
    const row = await readBehindWrites(server, count);
    const after = await Promise.all([1, 2].map((place) => statusOf(cluster, place, 'Com_select')));
    const there = after.reduce((sum, selects, index) => sum + selects - (before[index] ?? 0), 0);
    const isElsewhere = there >= count;
    const { isLate, ...judged } = row;
    const measured = `${row.measured}; ${there} statements on the other nodes`;
    return { ...judged, measured, isMet: row.isMet && isElsewhere, ...(isLate && isElsewhere && { isLate }) };
  } finally {
    await server.stop();
  }
}

/** Kills the node that writes go to, and each third time another one. */
async function killNodes(project: OrdersProject, cluster: GaleraCluster, count: number): Promise<readonly CaseRow[]> {
  const server = await project.start({ DATABASE_URL: listOf(cluster, [0, 1, 2]) });
  let killed = 0;
  const others = (): readonly number[] => [0, 1, 2].filter((place) => place !== killed);
  try {
    return await loseOften(server, {
      name: `kill -9 of nodes, ${count} times`,
      count,
      isKept: true,
      async lose(round) {
        const writer = await writerOf(cluster);
        killed = round % 3 === 2 ? 2 : writer;
        await cluster.kill(killed);
        const [first = 0] = others();
        await untilTrue(() => isSynced(cluster, first, 2));
        return performance.now();
      },
      async survivors() {
        for (const place of others()) await withMysql(listOf(cluster, [place]), (node) => node.query(catchUp));
        return others().map((place) => listOf(cluster, [place]));
      },
      restore: () => (count === 1 ? Promise.resolve() : cluster.restart(killed)),
    });
  } finally {
    await server.stop();
  }
}

const catchUp = 'SET STATEMENT wsrep_sync_wait = 1 FOR SELECT 1 FROM orders LIMIT 1';

async function killReader(project: OrdersProject, cluster: GaleraCluster): Promise<CaseRow> {
  const writer = 0;
  const environment = { DATABASE_URL: listOf(cluster, [writer]), DATABASE_READ_URL: listOf(cluster, [1, 2]) };
  const server = await project.start(environment);
  try {
    await sleep(1_500);
    return await readMeanwhile('node of reads killed', server, () => cluster.kill(2));
  } finally {
    await server.stop();
    await untilTrue(() => isSynced(cluster, writer, 2));
    await cluster.restart(2);
  }
}

/** All nodes but one are killed; it takes writes again when it is told to. */
async function loseQuorum(project: OrdersProject, cluster: GaleraCluster, left: number): Promise<readonly CaseRow[]> {
  const server = await project.start({ DATABASE_URL: listOf(cluster, [0, 1, 2]), DATABASE_FAILOVER_WAIT: '2s' });
  try {
    const writers = startWriters(server, 4, 'quorum');
    await sleep(1_000);
    await Promise.all([0, 1, 2].filter((place) => place !== left).map(cluster.kill));
    await untilTrue(async () => !(await isSynced(cluster, left)));
    const lostMs = await untilTold(server, away);
    await writers.stop();
    const { statuses, slowest } = await askAll(server, ['GET', 'POST', 'PATCH']);
    const { checks } = (await server.admin('/server/health')).json;
    const { state } = checks.database;
    await withMysql(cluster.urls[left] ?? '', (node) =>
      node.query("SET GLOBAL wsrep_provider_options = 'pc.bootstrap=1'"),
    );
    await untilTrue(() => isSynced(cluster, left));
    const foundMs = await untilTold(server, primary);
    const { lost, twice, partial } = await examineOrders(listOf(cluster, [left]), writers.acknowledged);
    const isTold = statuses.every((status) => status === 503) && state === 'no-quorum' && lost + twice + partial === 0;
    return [
      {
        name: 'all nodes but one killed',
        expected: '503 everywhere, none hangs 5 s; 0 acknowledged lost',
        measured: `${[...new Set(statuses)].join()} after ${Math.round(slowest)} ms at most, \`${state}\`; ${lost} of ${writers.acknowledged.size} lost, ${twice} twice, ${partial} partial`,
        isMet: isTold && Math.max(slowest, writers.slowest) < 5_000,
        isLate: isTold,
      },
      {
        name: 'health and readiness without a quorum, and with one again',
        expected: 'each change seen <= 2 s',
        measured: `${Math.round(lostMs)} ms, ${Math.round(foundMs)} ms`,
        isMet: lostMs <= 2_000 && foundMs <= 2_000,
        isLate: true,
      },
    ];
  } finally {
    await server.stop();
  }
}

/** True if a node is ready, in a cluster of so many where that is said. */
async function isSynced({ urls }: GaleraCluster, place: number, size?: number): Promise<boolean> {
  return withMysql(urls[place] ?? '', async (node) => {
    const [rows] = await node.query("SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_cluster_size')");
    // Two rows of name and value.
    const values = (rows as { readonly Value: string }[]).map(({ Value }) => Value);
    return values.includes('ON') && (size === undefined || values.includes(String(size)));
  }).catch(() => false);
}

async function statusOf({ urls }: GaleraCluster, place: number, name: string): Promise<number> {
  return withMysql(urls[place] ?? '', async (node) => {
    const [rows] = await node.query(`SHOW GLOBAL STATUS LIKE '${name}'`);
    return Number((rows as { readonly Value: string }[])[0]?.Value ?? 0);
  });
}

/** The node that sends what is written now. */
async function writerOf(cluster: GaleraCluster): Promise<number> {
  const places = [0, 1, 2];
  const sent = (): Promise<readonly number[]> =>
    Promise.all(places.map((place) => statusOf(cluster, place, 'wsrep_replicated')));
  const before = await sent();
  await sleep(200);
  const more = (await sent()).map((count, place) => count - (before[place] ?? 0));
  return more.indexOf(Math.max(...more));
}
