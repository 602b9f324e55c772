/** Patroni with two PostgreSQL servers, etcd and haproxy: scale-out notes, section 11, `patroni`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createOrders, examineOrders, type OrdersProject, startWriters } from './orders.ts';
import { becomes, type PatroniCluster, patroniMissing, startPatroni } from './patroni-cluster.ts';
import type { CaseRow, Topology } from './report.ts';

/** Patroni notices the loss of a primary after 20 s, its least. */
const wait = '40s';

/** The topology. */
export const patroni: Topology = {
  missing: patroniMissing,
  async run(folder, isShort) {
    const cluster = await startPatroni(folder);
    let project: OrdersProject | undefined;
    try {
      project = await createOrders(cluster.proxied);
      const list = `postgres://postgres@${cluster.urls.map((url) => new URL(url).host).join()}/postgres`;
      const rows = [await failOver(project, cluster, 'hosts in DATABASE_URL', list)];
      if (!isShort) rows.push(await failOver(project, cluster, 'haproxy', cluster.proxied));
      rows.push(await loseEtcd(project, cluster, list));
      return rows;
    } finally {
      await cluster.stop();
      await project?.remove();
    }
  },
};

/** Kills the primary with its agent under load, and waits until the other has been elected. */
async function failOver(project: OrdersProject, cluster: PatroniCluster, name: string, url: string): Promise<CaseRow> {
  const server = await project.start({ DATABASE_URL: url, DATABASE_FAILOVER_WAIT: wait });
  try {
    const writers = startWriters(server, 4, name);
    await sleep(1_500);
    const killed = await cluster.primary();
    await cluster.kill(killed);
    const elected = 1 - killed;
    await becomes(async () => (await cluster.primary()) === elected);
    const promotedAt = performance.now();
    await sleep(3_000);
    await writers.stop();
    const { lost, twice, partial } = await examineOrders(cluster.urls[elected] ?? '', writers.acknowledged);
    const first = Math.round((writers.firstAfter(promotedAt) ?? Number.POSITIVE_INFINITY) - promotedAt);
    cluster.start(killed);
    await becomes(async () => (await cluster.primary()) === elected);
    await sleep(5_000);
    return {
      name: `Patroni elects another primary, by ${name}`,
      expected: '0 acknowledged lost, 0 twice, 0 partial; first write <= 1 s after promotion',
      measured: `${lost} of ${writers.acknowledged.size} lost, ${twice} twice, ${partial} partial; ${first} ms`,
      isMet: lost + twice + partial === 0 && first <= 1_000,
    };
  } finally {
    await server.stop();
  }
}

/** Without etcd Patroni makes the primary a standby: nothing takes writes, and replicas still read. */
async function loseEtcd(project: OrdersProject, cluster: PatroniCluster, url: string): Promise<CaseRow> {
  const server = await project.start({ DATABASE_URL: url, DATABASE_READ_URL: url, DATABASE_FAILOVER_WAIT: '500ms' });
  try {
    await sleep(2_500);
    await cluster.stopEtcd();
    await becomes(async () => (await cluster.primary()) === -1);
    const status = async (path: string): Promise<number> => (await server.ask(path)).status;
    const ms = await becomes(async () => (await status('/server/ready')) === 503, 10_000);
    await becomes(async () => (await status('/server/ready?role=any')) === 200, 10_000);
    return {
      name: 'etcd stopped: Patroni demotes',
      expected: '`ready` 503 <= 2 s, `role=any` 200',
      measured: `503 after ${Math.round(ms)} ms, \`role=any\` 200`,
      isMet: ms <= 2_000,
    };
  } finally {
    await server.stop();
  }
}
