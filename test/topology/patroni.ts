/** Patroni with two PostgreSQL servers, etcd and haproxy: scale-out notes, section 11, `patroni`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { loseOften } from './cases.ts';
import { runContract } from './contract.ts';
import { createOrders, type OrdersProject } from './orders.ts';
import { type PatroniCluster, patroniMissing, startPatroni } from './patroni-cluster.ts';
import { type CaseRow, type Topology, untilTrue } from './report.ts';

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
      const rows = [...(await changePrimary(project, cluster, 'switchover, by hosts in DATABASE_URL', list, 'switch'))];
      if (!isShort) {
        rows.push(await runOnAll(cluster));
        rows.push(...(await changePrimary(project, cluster, 'switchover, by haproxy', cluster.proxied, 'switch')));
        rows.push(...(await changePrimary(project, cluster, 'failover, by hosts in DATABASE_URL', list, 'kill')));
        rows.push(...(await changePrimary(project, cluster, 'failover, by haproxy', cluster.proxied, 'kill')));
      }
      rows.push(await loseEtcd(project, cluster, list));
      return rows;
    } finally {
      await cluster.stop();
      await project?.remove();
    }
  },
};

/** Contract tests, on the member that is the primary by now. */
async function runOnAll(cluster: PatroniCluster): Promise<CaseRow> {
  const url = cluster.urls[await cluster.primary()] ?? '';
  const servers = { write: cluster.urls.map((member) => new URL(member).host), read: [] };
  return runContract({ dialect: 'postgres', url, servers }, false);
}

/** Has the other member elected under load: by a command, or because the primary is killed with its agent. */
async function changePrimary(
  project: OrdersProject,
  cluster: PatroniCluster,
  name: string,
  url: string,
  how: 'switch' | 'kill',
): Promise<readonly CaseRow[]> {
  const server = await project.start({ DATABASE_URL: url, DATABASE_FAILOVER_WAIT: wait });
  let former = 0;
  try {
    return await loseOften(server, {
      name,
      count: 1,
      isKept: true,
      async lose() {
        former = await cluster.primary();
        await (how === 'kill' ? cluster.kill(former) : cluster.switchOver(former));
        await untilTrue(async () => (await cluster.primary()) === 1 - former);
        return performance.now();
      },
      survivors: async () => [cluster.urls[1 - former] ?? ''],
      async restore() {
        if (how === 'kill') cluster.start(former);
        await untilTrue(() => cluster.isFollowed(1 - former));
      },
    });
  } finally {
    await server.stop();
  }
}

/** Without etcd Patroni makes the primary a standby: nothing takes writes, and replicas still read. */
async function loseEtcd(project: OrdersProject, cluster: PatroniCluster, url: string): Promise<CaseRow> {
  const server = await project.start({ DATABASE_URL: url, DATABASE_READ_URL: url, DATABASE_FAILOVER_WAIT: '500ms' });
  const status = async (path: string): Promise<number> => (await server.ask(path)).status;
  try {
    await sleep(2_500);
    const before = await Promise.all(['/server/ready', '/server/ready?role=any'].map(status));
    await cluster.stopEtcd();
    await untilTrue(async () => (await cluster.primary()) === -1);
    const ms = await untilTrue(async () => (await status('/server/ready')) === 503);
    await untilTrue(async () => (await status('/server/ready?role=any')) === 200);
    const read = await server.admin('/items/orders?limit=1');
    const isTold = before.join() === '200,200' && read.status === 200;
    return {
      name: 'etcd stopped: Patroni demotes',
      expected: '`ready` 503 <= 2 s, `role=any` 200, reads 200',
      measured: `503 after ${Math.round(ms)} ms, \`role=any\` 200, reads ${read.status}`,
      isMet: ms <= 2_000 && isTold,
      isLate: isTold,
    };
  } finally {
    await server.stop();
  }
}
