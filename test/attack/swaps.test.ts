/**
 * Requests while generations are swapped: none fails, none is answered by two of them, and memory stays as it was. A
 * sample every day; SWAPS=100 is the whole proof.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { installSystem } from '../support/system.ts';

const swaps = Number(process.env.SWAPS ?? '10');

let database: TestDatabase;
let project: { readonly folder: string; remove(): Promise<void> };
let server: Platform;
beforeAll(async () => {
  database = await createDatabase();
  await installSystem(database.url);
  await withClient(database.url, (client) =>
    client.query(`CREATE TABLE docs (id integer PRIMARY KEY, a text, b text);
      INSERT INTO docs SELECT n, 'a', 'b' FROM generate_series(1, 50) AS n;
      INSERT INTO platform.platform_permissions (collection, action, fields) VALUES ('docs', 'read', 'id,b'), ('docs', 'update', 'a')`),
  );
  project = await createProject();
  await writeFile(join(project.folder, 'platform.config.ts'), "export default { permissionSource: 'tables' };\n");
  // Requests wait longer for connections where other tests run, and none may fail for that.
  server = await startUnchecked(project.folder, database.url, { DATABASE_POOL_TIMEOUT: '30s' });
});
afterAll(async () => {
  await server?.stop();
  await project?.remove();
  await database?.drop();
});

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024);
}

/** A machine that answers fewer requests than are sent each second would have more and more of them wait. */
const mostRunning = 100;

/** Both sets of fields that the rule is switched between; an answer has one of them, whole. */
const shapes = ['a,id', 'b,id'];

it(`200 requests per second during ${swaps} swaps`, { timeout: 30_000 + swaps * 2_000 }, async () => {
  const told: string[] = [];
  const waits: number[] = [];
  const running = new Set<Promise<void>>();
  async function ask(n: number): Promise<void> {
    const start = performance.now();
    const write = n % 5 === 0;
    const answer = write
      ? await server.ask(`/items/docs/${1 + (n % 50)}?fields=id`, { method: 'PATCH', body: { a: 'a' } })
      : await server.ask('/items/docs?limit=-1');
    waits.push(performance.now() - start);
    const fields = (one: object): string => Object.keys(one).sort().join(',');
    const shape = write ? 'a,id' : [...new Set<string>((answer.json.data ?? []).map(fields))].join('|');
    if (answer.status !== 200 || !shapes.includes(shape))
      told.push(`${answer.status} ${shape} ${answer.text.slice(0, 200)}`);
  }
  let asked = 0;
  const timer = setInterval(() => {
    if (running.size >= mostRunning) return;
    asked += 1;
    const one = ask(asked)
      .catch((error: unknown) => void told.push(String(error)))
      .finally(() => running.delete(one));
    running.add(one);
  }, 5);
  const times: number[] = [];
  const memory: number[] = [];
  for (let swap = 0; swap < swaps; swap += 1) {
    const start = performance.now();
    const fields = swap % 2 === 0 ? ['id', 'a'] : ['id', 'b'];
    const body = { query: { filter: { action: { _eq: 'read' } } }, data: { fields } };
    const answer = await server.admin('/permissions?fields=fields', { method: 'PATCH', body });
    times.push(performance.now() - start);
    if (swap % 10 === 0) memory.push(await residentMegabytes(server.pid));
    expect([answer.status, answer.json.data]).toEqual([200, [{ fields }]]);
    const [item] = (await server.ask('/items/docs?limit=1')).json.data;
    expect(Object.keys(item)).toEqual(fields);
  }
  clearInterval(timer);
  await Promise.all(running);
  expect(told).toEqual([]);
  expect(asked).toBeGreaterThan(swaps);
  if (process.env.SWAPS !== undefined) {
    const sorted = (list: number[]) => list.toSorted((a, b) => a - b).map(Math.round);
    console.log({ asked, swaps: sorted(times), slowest: sorted(waits).slice(-10), memory });
  }
});
