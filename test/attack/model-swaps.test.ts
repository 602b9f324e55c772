/**
 * Requests while the model is changed under them: none fails unless a field of its own table goes, and every change is there
 * when its request is answered. A sample every day; COLLECTIONS=100 SWAPS=40 is the whole proof, which prints its times;
 * CONTRACT_DATABASE=mariadb asks the same of another server.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ContractDatabase, createSystemDatabase } from '../support/contract-database.ts';
import { generateHosted } from '../support/host.ts';
import { createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { soon } from '../support/timing.ts';

const swaps = Number(process.env.SWAPS ?? '6');
const collections = Number(process.env.COLLECTIONS ?? '5');
/** A machine that answers fewer requests than are sent each second would have more and more of them wait. */
const mostRunning = 50;

let database: ContractDatabase;
let project: { readonly folder: string; remove(): Promise<void> };
let server: Platform;
let second: Platform;
beforeAll(async () => {
  const others = Array.from({ length: collections }, (_, n) => {
    const parent = n === 0 ? '' : `, parent integer, FOREIGN KEY (parent) REFERENCES other_${n - 1} (id)`;
    return `CREATE TABLE other_${n} (id integer PRIMARY KEY, a text, b integer, c timestamptz, d jsonb, e text${parent});`;
  });
  const rows = Array.from({ length: 50 }, (_, n) => `(${n + 1}, 'a', 1)`);
  database = await createSystemDatabase(`CREATE TABLE docs (id integer PRIMARY KEY, a text, n smallint);
    INSERT INTO docs VALUES ${rows.join(', ')}; ${others.join('\n')}`);
  project = await createProject();
  // Requests wait longer for connections where other tests run, and none may fail for that.
  const patient = { DATABASE_POOL_TIMEOUT: '30s' };
  await generateHosted(project.folder, database.url);
  server = await startUnchecked(project.folder, database.url, patient, []);
  second = await startUnchecked(project.folder, database.url, patient, []);
});
afterAll(async () => {
  await Promise.all([server?.stop(), second?.stop()]);
  await project?.remove();
  await database?.drop();
});

it(`100 requests per second to two processes during ${swaps} changes`, {
  timeout: 30_000 + swaps * 5_000,
}, async () => {
  const told: string[] = [];
  const waits: number[] = [];
  const running = new Set<Promise<void>>();
  async function ask(n: number): Promise<void> {
    const start = performance.now();
    const on = n % 3 === 0 ? second : server;
    const [path, method, body] =
      n % 5 === 0
        ? [`/items/docs/${1 + (n % 50)}?fields=id,a`, 'PATCH', { a: 'a' }]
        : [n % 2 === 0 ? '/items/docs?fields=id,a&limit=-1' : '/items/other_1?fields=*,parent.a', 'GET', undefined];
    const answer = await on.admin(path, { method, body });
    waits.push(performance.now() - start);
    if (answer.status !== 200) told.push(`${method} ${path} ${answer.status} ${answer.text.slice(0, 200)}`);
  }
  let asked = 0;
  const timer = setInterval(() => {
    if (running.size >= mostRunning) return;
    asked += 1;
    const one = ask(asked)
      .catch((error: unknown) => void told.push(String(error)))
      .finally(() => running.delete(one));
    running.add(one);
  }, 10);
  const times: number[] = [];
  const change = async (method: string, path: string, body?: unknown) => {
    const start = performance.now();
    const answer = await server.admin(path, { method, body });
    times.push(performance.now() - start);
    expect([path, answer.status, answer.text]).toEqual([path, method === 'DELETE' ? 204 : 200, answer.text]);
  };
  const fieldsOf = async (on: Platform) =>
    (await on.admin('/fields/docs')).json.data.map((one: { field: string }) => one.field);
  for (let swap = 0; swap < swaps; swap += 6) {
    const field = `more_${swap}`;
    await change('POST', '/fields/docs', { field, type: 'string', schema: { default_value: 'x' } });
    expect(await fieldsOf(server)).toContain(field);
    await change('PATCH', `/fields/docs/${field}`, { type: 'text', meta: { note: 'Longer.' } });
    const fields = [
      { field: 'id', type: 'integer', schema: { is_primary_key: true } },
      { field: 'doc', type: 'integer' },
    ];
    await change('POST', '/collections', { collection: 'brief', schema: {}, fields });
    const doc = { collection: 'brief', field: 'doc', related_collection: 'docs' };
    await change('POST', '/relations', doc);
    await change('DELETE', '/fields/brief/doc');
    await change('DELETE', '/collections/brief');
  }
  // Writers on both processes take turns, whatever either knows of the other.
  const made = ['p', 'q', 'r', 's'].map((field, place) =>
    (place % 2 === 0 ? server : second).admin('/fields/docs', { method: 'POST', body: { field, type: 'date' } }),
  );
  expect((await Promise.all(made)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  await change('POST', '/fields/docs', { field: 'last', type: 'string' });
  expect(await fieldsOf(server)).toEqual(expect.arrayContaining(['p', 'q', 'r', 's', 'last']));
  await soon(async () => (await fieldsOf(second)).includes('last'), true, 5_000);
  clearInterval(timer);
  await Promise.all(running);
  // The log says what was in the way of those that failed.
  const causes =
    told.length === 0 ? [] : [server, second].flatMap((one) => one.log().match(/.*"level":[4-6]0.*/g) ?? []);
  expect([told, causes]).toEqual([[], []]);
  expect(asked).toBeGreaterThan(swaps);
  if (process.env.SWAPS !== undefined) {
    const sorted = (list: number[]) => list.toSorted((a, b) => a - b).map(Math.round);
    console.log({ asked, changes: sorted(times), slowest: sorted(waits).slice(-10) });
  }
});

it('a process that is about to follow a change does not take it for drift', async () => {
  const make = { field: 'wide', type: 'string', schema: { max_length: 100 } };
  expect((await server.admin('/fields/docs', { method: 'POST', body: make })).status).toBe(200);
  await soon(async () => (await second.admin('/items/docs?fields=wide&limit=1')).status, 200, 20_000);
  expect((await second.ask('/server/health')).json).toEqual({ status: 'ok' });
  process.kill(second.pid, 'SIGSTOP');
  try {
    const change = { method: 'PATCH', body: { type: 'text' } };
    expect((await server.admin('/fields/docs/wide', change)).status).toBe(200);
    // When it goes on, its last look at the tables is old enough that it looks again.
    await sleep(2_000);
  } finally {
    process.kill(second.pid, 'SIGCONT');
  }
  const health = await second.ask('/server/health');
  const read = await second.admin('/items/docs?fields=id,wide&limit=1');
  expect([health.json.status, read.status], read.text).toEqual(['ok', 200]);
  expect(second.log()).not.toContain('compiled as');
});
