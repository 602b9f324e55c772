/** MySQL with two replicas, then a group of three with one primary: scale-out notes, section 11, `mysql`. */
import { chmodSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { away, primary } from '../support/host-told.ts';
import { withMysql } from '../support/mariadb.ts';
import { noMysqlGroup, withoutMysqlGroup } from '../support/mysql-group.ts';
import { askAll, loseOften, readBehindWrites, readMeanwhile, readPaused, untilTold } from './cases.ts';
import { runContract } from './contract.ts';
import { type MysqlCluster, startMysqlCluster } from './mysql-cluster.ts';
import { createOrders, examineOrders, type OrdersProject, startWriters } from './orders.ts';
import { type CaseRow, type Topology, untilTrue } from './report.ts';

/** The topology. */
export const mysql: Topology = {
  missing: noMysqlGroup ? withoutMysqlGroup.replace(/^ \(skipped: |\)$/g, '') : null,
  async run(folder, isShort) {
    const rows: CaseRow[] = [];
    // The servers run as another user.
    chmodSync(folder, 0o755);
    // Members of a group count transactions as replicas do.
    for (const [kind, run] of isShort ? [parts.group] : [parts.replicas, parts.group]) {
      const cluster = await startMysqlCluster(mkdtempSync(join(folder, `${kind}-`)), kind);
      let project: OrdersProject | undefined;
      try {
        await withMysql(cluster.urls[0] ?? '', (node) => node.query('CREATE DATABASE app CHARACTER SET utf8mb4'));
        project = await createOrders(listOf(cluster, [0]));
        rows.push(...(await run(project, cluster, isShort)));
      } finally {
        await cluster.stop();
        await project?.remove();
      }
    }
    return rows;
  },
};

/** Address of some servers, for the database of the API. */
function listOf({ urls }: MysqlCluster, places: readonly number[]): string {
  const [first = ''] = urls;
  const hosts = places.map((place) => new URL(urls[place] ?? '').host).join();
  return `${first.replace(/@.*/, '')}@${hosts}/app`;
}

const others = [1, 2];

/** One server takes writes, and two follow it by the numbers of transactions. */
async function readReplicas(
  project: OrdersProject,
  cluster: MysqlCluster,
  isShort: boolean,
): Promise<readonly CaseRow[]> {
  const server = await project.start({
    DATABASE_URL: listOf(cluster, [0]),
    DATABASE_READ_URL: listOf(cluster, others),
    DATABASE_READ_MAX_LAG: '900ms',
  });
  const onReplicas = (sql: string): Promise<unknown> =>
    Promise.all(others.map((place) => withMysql(cluster.urls[place] ?? '', (node) => node.query(sql))));
  try {
    await sleep(2_500);
    const rows = [await readBehindWrites(server, isShort ? 100 : 5_000)];
    await onReplicas('STOP REPLICA SQL_THREAD');
    rows.push(await readPaused(server, isShort ? 4_000 : 30_000));
    await onReplicas('START REPLICA SQL_THREAD');
    await sleep(1_500);
    rows.push(await readMeanwhile('replica killed', server, () => cluster.kill(2)));
    return rows;
  } finally {
    await server.stop();
  }
}

/** The group elects another primary by itself. */
async function loseMembers(
  project: OrdersProject,
  cluster: MysqlCluster,
  isShort: boolean,
): Promise<readonly CaseRow[]> {
  const all = listOf(cluster, [0, 1, 2]);
  const rows = [await runOnAll(cluster, isShort)];
  const server = await project.start({ DATABASE_URL: all, DATABASE_READ_URL: all, DATABASE_FAILOVER_WAIT: '15s' });
  try {
    await sleep(1_500);
    rows.push(await readBehindWrites(server, isShort ? 100 : 3_000));
    rows.push(...(await losePrimaries(server, cluster, isShort ? 1 : 4)));
    rows.push(...(await loseMajority(project, cluster)));
    return rows;
  } finally {
    await server.stop();
  }
}

/** Contract tests, which read at once what they have written by a way of their own. */
async function runOnAll({ urls }: MysqlCluster, isShort: boolean): Promise<CaseRow> {
  const [url = '', ...others] = urls;
  const set = (level: string): Promise<unknown> =>
    withMysql(url, (node) => node.query(`SET GLOBAL group_replication_consistency = '${level}'`));
  const read = others.map((other) => new URL(other).host);
  await set('AFTER');
  const servers = { write: [new URL(url).host, ...read], read };
  const row = await runContract({ dialect: 'mysql', url, servers }, isShort);
  await set('BEFORE_ON_PRIMARY_FAILOVER');
  return row;
}

type Server = Parameters<typeof loseOften>[0];

async function losePrimaries(server: Server, cluster: MysqlCluster, count: number): Promise<readonly CaseRow[]> {
  let killed = 0;
  return loseOften(server, {
    name: `primary of the group killed, ${count} times`,
    count,
    isKept: true,
    async lose() {
      killed = await primaryOf(cluster);
      await cluster.kill(killed);
      await untilTrue(async () => (await primaryOf(cluster)) >= 0);
      return performance.now();
    },
    async survivors() {
      const left = [0, 1, 2].filter((place) => place !== killed);
      const written = await executedOn(cluster, await primaryOf(cluster));
      for (const place of left) {
        await withMysql(cluster.urls[place] ?? '', (node) =>
          node.query(`SELECT WAIT_FOR_EXECUTED_GTID_SET('${written}', 20)`),
        );
      }
      return left.map((place) => listOf(cluster, [place]));
    },
    restore: () => (count === 1 ? Promise.resolve() : cluster.restart(killed)),
  });
}

/** Two of three are killed: the third takes no writes, and lets those under way wait. */
async function loseMajority(project: OrdersProject, cluster: MysqlCluster): Promise<readonly CaseRow[]> {
  const left = await primaryOf(cluster);
  const server = await project.start({ DATABASE_URL: listOf(cluster, [0, 1, 2]), DATABASE_FAILOVER_WAIT: '2s' });
  try {
    const writers = startWriters(server, 4, 'majority');
    await sleep(1_000);
    await Promise.all([0, 1, 2].filter((place) => place !== left).map((place) => cluster.kill(place)));
    await untilTrue(async () => (await primaryOf(cluster)) === -1);
    const lostMs = await untilTold(server, away);
    const stoppedAt = performance.now();
    await writers.stop();
    const waitedMs = performance.now() - stoppedAt;
    const { statuses, slowest } = await askAll(server, ['POST', 'PATCH']);
    let state = '';
    // On a busy machine a look may take too long, which says that the server is away until the next one.
    await untilTrue(async () => {
      ({ state } = (await server.admin('/server/health')).json.checks.database);
      return state === 'no-quorum';
    });
    const own = await groupAddress(cluster, left);
    await withMysql(cluster.urls[left] ?? '', (node) =>
      node.query(`SET GLOBAL group_replication_force_members = '${own}'`),
    );
    await untilTrue(async () => (await primaryOf(cluster)) === left);
    const foundMs = await untilTold(server, primary);
    const { lost, twice, partial } = await examineOrders(listOf(cluster, [left]), writers.acknowledged);
    const isTold = statuses.every((status) => status === 503) && state === 'no-quorum' && lost + twice + partial === 0;
    return [
      {
        name: 'no majority',
        expected: 'writes 503, none hangs 5 s; 0 acknowledged lost',
        measured: `${[...new Set(statuses)].join()} after ${Math.round(Math.max(slowest, waitedMs))} ms at most, \`${state}\`; ${lost} of ${writers.acknowledged.size} lost, ${twice} twice, ${partial} partial`,
        isMet: isTold && Math.max(slowest, waitedMs) < 5_000,
        isLate: isTold,
      },
      {
        name: 'health and readiness without a majority, and with one again',
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

const roleSql = `SELECT MEMBER_ROLE = 'PRIMARY' AND MEMBER_STATE = 'ONLINE' AND NOT @@super_read_only AND
  (SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'UNREACHABLE') = 0 AS is_primary
  FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid`;

async function first<Row>(url: string, sql: string): Promise<Row | undefined> {
  return withMysql(url, async (node) => {
    const [rows] = await node.query(sql);
    // The columns that the statement names.
    return (rows as Row[])[0];
  });
}

/** The member that takes writes and sees all others; -1 where there is none. */
async function primaryOf({ urls }: MysqlCluster): Promise<number> {
  const roles = await Promise.all(
    urls.map((url) => first<{ is_primary: number }>(url, roleSql).catch(() => undefined)),
  );
  return roles.findIndex((role) => role?.is_primary === 1);
}

async function executedOn({ urls }: MysqlCluster, place: number): Promise<string> {
  return (await first<{ executed: string }>(urls[place] ?? '', 'SELECT @@gtid_executed AS executed'))?.executed ?? '';
}

async function groupAddress({ urls }: MysqlCluster, place: number): Promise<string> {
  const sql = 'SELECT @@group_replication_local_address AS address';
  return (await first<{ address: string }>(urls[place] ?? '', sql))?.address ?? '';
}

/** Parts of the topology, which run one after the other. */
const parts = { replicas: ['replicas', readReplicas], group: ['group', loseMembers] } as const;
