/** Rights that are withdrawn while servers reach their database by a pooler, which keeps notices to itself. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { startPooler } from '../support/pooler.ts';
import { createDatabaseOn, withClient } from '../support/postgres.ts';
import { installSystem } from '../support/system.ts';
import { type CaseRow, percentile } from './report.ts';

/** Withdraws a right at one server again and again, and waits until another one refuses. */
export async function withdrawRights(serverUrl: string, count: number): Promise<CaseRow> {
  const database = await createDatabaseOn(serverUrl);
  await installSystem(database.url);
  await withClient(database.url, (client) => client.query('CREATE TABLE docs (id integer PRIMARY KEY)'));
  const pooler = await startPooler(database.url, 'transaction');
  const project = await createProject();
  const servers: Platform[] = [];
  const times: number[] = [];
  try {
    await writeFile(join(project.folder, 'platform.config.ts'), "export default { permissionSource: 'tables' };\n");
    const first = await startUnchecked(project.folder, pooler.url);
    const second = await startUnchecked(project.folder, pooler.url, {}, []);
    servers.push(first, second);
    for (let round = 0; round < count; round++) {
      const rule = { collection: 'docs', action: 'read', fields: ['id'] };
      const made = await first.admin('/permissions', { method: 'POST', body: rule });
      await becomes(second, 200);
      await first.admin(`/permissions/${made.json.data.id}`, { method: 'DELETE' });
      times.push(await becomes(second, 403));
    }
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await pooler.stop();
    await project.remove();
    await database.drop();
  }
  const slowest = Math.max(...times);
  return {
    name: `right withdrawn behind pgbouncer, ${count} times`,
    expected: '<= 0.5 s',
    measured: `p50 ${Math.round(percentile(times, 50))} ms, at most ${Math.round(slowest)} ms`,
    isMet: slowest <= 500,
    isLate: true,
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
