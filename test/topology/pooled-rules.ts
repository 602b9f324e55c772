/** Rights that are withdrawn while servers reach their database by a pooler, which keeps notices to itself. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { startPooler } from '../support/pooler.ts';
import { createDatabaseOn, withClient } from '../support/postgres.ts';
import { countStatements } from '../support/proxy.ts';
import { startRedis } from '../support/redis.ts';
import { installSystem } from '../support/system.ts';
import { type CaseRow, percentile } from './report.ts';

/** Ways by which servers hear of each other's changes, instead of asking or beside it. */
export type Hearing = 'DATABASE_LISTEN_URL' | 'REDIS';

/** Withdraws a right at one server again and again, and waits until another one refuses. */
export async function withdrawRights(serverUrl: string, count: number, hearing: readonly Hearing[]): Promise<CaseRow> {
  const database = await createDatabaseOn(serverUrl);
  await installSystem(database.url);
  await withClient(database.url, (client) => client.query('CREATE TABLE docs (id integer PRIMARY KEY)'));
  const pooler = await startPooler(database.url, 'transaction');
  const proxy = await countStatements(pooler.url);
  const listens = hearing.includes('DATABASE_LISTEN_URL');
  const redis = hearing.includes('REDIS') ? await startRedis() : null;
  const project = await createProject();
  const servers: Platform[] = [];
  const times: number[] = [];
  let questions = 0;
  let published = 0;
  try {
    await writeFile(join(project.folder, 'platform.config.ts'), "export default { permissionSource: 'tables' };\n");
    const environment: Readonly<Record<string, string>> = {
      ...(listens && { DATABASE_LISTEN_URL: database.url }),
      ...(redis && { REDIS: redis.url }),
    };
    const first = await startUnchecked(project.folder, pooler.url, environment);
    const second = await startUnchecked(project.folder, proxy.url, environment, []);
    servers.push(first, second);
    for (let round = 0; round < count; round++) {
      const rule = { collection: 'docs', action: 'read', fields: ['id'] };
      const made = await first.admin('/permissions', { method: 'POST', body: rule });
      await becomes(second, 200);
      await first.admin(`/permissions/${made.json.data.id}`, { method: 'DELETE' });
      times.push(await becomes(second, 403));
    }
    proxy.reset();
    await sleep(1_000);
    questions = proxy.texts().filter((text) => text.startsWith('SELECT attempts')).length;
    published = (await redis?.calls('publish')) ?? 0;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await proxy.close();
    await pooler.stop();
    await redis?.stop();
    await project.remove();
    await database.drop();
  }
  const slowest = Math.max(...times);
  const most = hearing.length === 0 ? 500 : 100;
  const isAsked = questions > 0;
  // Redis may lose a notice, the database loses none.
  const isHeard = isAsked === !listens && (redis === null || published >= 2 * count);
  return {
    name: `right withdrawn behind pgbouncer, ${count} times${hearing.length === 0 ? '' : `, with ${hearing.join(' and ')}`}`,
    expected: `<= ${most / 1_000} s`,
    measured: `p50 ${Math.round(percentile(times, 50))} ms, at most ${Math.round(slowest)} ms; ${isAsked ? 'asks' : 'asks nothing'}`,
    isMet: slowest <= most && isHeard,
    isLate: isHeard,
  };
}

async function becomes(server: Platform, status: number): Promise<number> {
  const start = performance.now();
  while ((await server.ask('/items/docs')).status !== status) {
    if (performance.now() - start > 60_000) throw new Error(`The rule is not seen: no ${status}.`);
    await sleep(5);
  }
  return performance.now() - start;
}
