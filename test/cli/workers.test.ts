/** Several processes on one port: none of their requests fails while they are replaced or lost, and all end together. */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundledFor } from '../support/bundled.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createMysqlDatabase, noMariadb, startMariadb, withoutMariadb } from '../support/mariadb.ts';
import { createProject, type Platform, runPlatform, startUnchecked, variablesOf } from '../support/platform.ts';

/** Rounds of replacing everybody; RESTARTS=5 is the whole proof. */
const restarts = Number(process.env.RESTARTS ?? '1');

let database: TestDatabase;
let project: { readonly folder: string; remove(): Promise<void> };
let server: Platform;
beforeAll(async () => {
  database = await createDatabase('CREATE TABLE docs (id integer PRIMARY KEY); INSERT INTO docs VALUES (1)');
  project = await createProject();
  await writeFile(join(project.folder, 'permissions.yaml'), 'permissions: { public: { docs: { read: true } } }\n');
  // Tests share their machine with others: a request may wait for long.
  const settings = { DATABASE_POOL_TIMEOUT: '30s' };
  server = await startUnchecked(project.folder, database.url, settings, ['--generate', '--workers', '2']);
});
afterAll(async () => {
  await server?.stop();
  await project?.remove();
  await database?.drop();
});

/** On a connection of its own: one that is kept may be closed while something is being sent on it. */
function ask(): Promise<string> {
  return new Promise((resolve) => {
    get(`${server.url}/items/docs`, { agent: false }, (response) => {
      response.resume().on('end', () => resolve(String(response.statusCode)));
    }).on('error', (error) => resolve(error.message));
  });
}

async function until(done: () => boolean): Promise<void> {
  for (let waited = 0; !done() && waited < 30_000; waited += 50)
    await new Promise((resolve) => setTimeout(resolve, 50));
  expect(done()).toBe(true);
}

const told = (message: string): number => server.log().split(message).length - 1;

it('requests are answered while every process is replaced', { timeout: 30_000 + restarts * 30_000 }, async () => {
  const answers: Promise<string>[] = [];
  const timer = setInterval(() => void answers.push(ask()), 5);
  for (let round = 1; round <= restarts; round += 1) {
    process.kill(server.pid, 'SIGHUP');
    await until(() => told('every process was replaced') === round);
  }
  clearInterval(timer);
  expect([...new Set(await Promise.all(answers))]).toEqual(['200']);
  expect(answers.length).toBeGreaterThan(50);
});

it('a process that hangs keeps one connection from being answered, until it goes on', async () => {
  const pid = await firstWorker();
  process.kill(pid, 'SIGSTOP');
  const answers = Array.from({ length: 12 }, ask);
  let answered = 0;
  for (const answer of answers) void answer.then(() => answered++);
  try {
    await until(() => answered >= 11);
    expect(answered).toBe(11);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  expect([...new Set(await Promise.all(answers))]).toEqual(['200']);
});

it('one that ends while another one is replaced is replaced once', { timeout: 60_000 }, async () => {
  const before = told('every process was replaced');
  const pid = await firstWorker();
  process.kill(server.pid, 'SIGHUP');
  await expect.poll(() => workerPids(), { interval: 10 }).toHaveLength(3);
  process.kill(pid, 'SIGKILL');
  await until(() => told('every process was replaced') === before + 1);
  await expect.poll(() => told('another one takes its place')).toBe(1);
  // A process more would be there after the second in which none is replaced, and its start.
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  expect(await workerPids()).toHaveLength(2);
});

it('the others serve while the system starts no further process', { timeout: 60_000 }, async () => {
  const pid = await firstWorker();
  const limit = (open: string): unknown => execFileSync('prlimit', ['--pid', String(server.pid), `--nofile=${open}:`]);
  const before = told('another one takes its place');
  limit('8');
  try {
    process.kill(pid, 'SIGKILL');
    await until(() => told('it cannot start: ') > 0);
    expect(await workerPids()).toHaveLength(1);
  } finally {
    limit('1024');
  }
  await expect.poll(async () => (await workerPids()).length, { timeout: 20_000 }).toBe(2);
  expect(told('another one takes its place')).toBeGreaterThan(before + 1);
  // One of two requests is for the new process, which takes it when it listens.
  const left = await firstWorker();
  process.kill(left, 'SIGSTOP');
  const both = [ask(), ask()];
  try {
    expect(await Promise.race(both)).toBe('200');
  } finally {
    process.kill(left, 'SIGCONT');
  }
  expect(await Promise.all(both)).toEqual(['200', '200']);
});

it('a process that is lost is replaced, and all end with the first one', async () => {
  const before = told('another one takes its place');
  expect(await workerPids()).toHaveLength(2);
  process.kill(await firstWorker(), 'SIGKILL');
  await until(() => told('another one takes its place') === before + 1);
  expect(await ask()).toBe('200');
  const left = await workerPids();
  expect(await server.stop()).toBe(0);
  for (const pid of left) expect(() => process.kill(pid, 0)).toThrow();
});

it('a start that no process survives ends with the code of its failure', async () => {
  const environment = { DATABASE_URL: database.url, LOG_LEVEL: 'loud' };
  const result = await runPlatform(['start', '--workers', '2', '--project', project.folder], environment);
  expect(result).toMatchObject({ code: 4, stderr: expect.stringContaining('LOG_LEVEL must be one of') });
});

it('a start of which one process is killed ends with a failure', async () => {
  const args = ['start', '--workers', '2', '--project', project.folder];
  const leader = spawn(process.execPath, [...bundledFor(database.url), 'packages/cli/bin/platform.cjs', ...args], {
    env: variablesOf(database.url, {}),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  leader.stderr.on('data', (chunk) => (text += String(chunk)));
  const ended = once(leader, 'exit');
  try {
    await expect.poll(() => workerPids(leader.pid), { interval: 10, timeout: 20_000 }).toHaveLength(2);
    process.kill(await firstWorker(leader.pid), 'SIGKILL');
    expect(await ended).toEqual([4, null]);
    expect(text).toMatch(/A process ended before it listened \(SIGKILL\)\.\n.* serve by fewer/);
  } finally {
    leader.kill();
    await ended;
  }
});

it('a port that another process has taken meanwhile is waited for by one process, which may hang at last', {
  timeout: 90_000,
}, async () => {
  const [free, port] = await listenOn(0);
  await new Promise((resolve) => free.close(resolve));
  const settings = { PORT: String(port), SHUTDOWN_TIMEOUT: '1s' };
  const only = await startUnchecked(project.folder, database.url, settings, ['--workers', '1']);
  let other: Server | undefined;
  try {
    process.kill(await firstWorker(only.pid), 'SIGTERM');
    await until(() => {
      if (other === undefined)
        void listenOn(port)
          .then(([taken]) => (other = taken))
          .catch(() => undefined);
      return other !== undefined;
    });
    await until(() => only.log().split('it cannot start: The port is in use').length > 3);
    expect((await workerPids(only.pid)).length).toBeLessThan(2);
    other?.close();
    await expect
      .poll(async () => (await only.ask('/items/docs').catch(() => null))?.status, { timeout: 20_000 })
      .toBe(200);
    // One that hangs keeps the others from ending for some seconds more than its requests have.
    const hanging = await firstWorker(only.pid);
    process.kill(hanging, 'SIGSTOP');
    expect(await only.stop()).toBe(0);
    expect(() => process.kill(hanging, 0)).toThrow();
  } finally {
    other?.close();
    await only.stop();
  }
});

it.each([
  ['of the server', [], 'PORT', /The port is in use\./],
  ['of the server of several processes', ['--workers', '2'], 'PORT', /The port is in use\./],
  ['of the metrics', [], 'METRICS_PORT', /The port of the metrics is in use\./],
])(
  'a port %s that is in use ends the start, and the hint has none that is in use',
  async (_, flags, variable, message) => {
    const [first, port] = await listenOn(0);
    // Another process may have it.
    const second = await listenOn(port + 1).catch(() => null);
    const environment = { DATABASE_URL: database.url, PORT: '0', [variable]: String(port) };
    const result = await runPlatform(['start', ...flags, '--project', project.folder], environment);
    expect(result).toMatchObject({ code: 4, stderr: expect.stringMatching(message) });
    const hint = new RegExp(`such as ${variable}=(\\d+)\\.$`, 'm').exec(result.stderr);
    for (const server of [first, second?.[0]]) server?.close();
    expect(Number(hint?.[1])).toBeGreaterThan(second === null ? port : port + 1);
  },
);

async function listenOn(port: number): Promise<[Server, number]> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return [server, typeof address === 'object' ? (address?.port ?? 0) : 0];
}

it('what cannot be served by several is refused', async () => {
  const refused = (workers: string) => runPlatform(['start', '--project', project.folder, '--workers', workers]);
  expect([(await refused('2')).code, (await refused('none')).code]).toEqual([2, 2]);
});

it.skipIf(noMariadb)(
  `a change of the model by one leaves types and checks of MariaDB in the others${withoutMariadb}`,
  { timeout: 60_000 },
  async () => {
    const url = await createMysqlDatabase(
      await startMariadb(),
      "CREATE TABLE docs (id integer PRIMARY KEY, tags json, state text CHECK (state IN ('on', 'off')))",
    );
    const { folder, remove } = await createProject();
    await writeFile(join(folder, 'permissions.yaml'), 'permissions: { public: { docs: { read: true } } }\n');
    await runPlatform(['migrate', '--project', folder], { DATABASE_URL: url });
    const both = await startUnchecked(folder, url, {}, ['--generate', '--workers', '2']);
    try {
      const body = {
        collection: 'workers_more',
        schema: {},
        fields: [{ field: 'id', type: 'integer', schema: { is_primary_key: true } }],
      };
      expect((await both.admin('/collections', { method: 'POST', body })).status).toBe(200);
      // Each worker serves the change, the second one after it has compiled it.
      const statuses = async () =>
        Promise.all(Array.from({ length: 8 }, async () => (await both.admin('/items/workers_more')).status));
      await expect.poll(statuses, { timeout: 20_000 }).toEqual(Array(8).fill(200));
      const item = { id: 1, tags: { a: 1 }, state: 'on' };
      expect((await both.admin('/items/docs', { method: 'POST', body: item })).status).toBe(200);
      const items = await Promise.all(
        Array.from({ length: 8 }, async () => (await both.admin('/items/docs')).json.data),
      );
      expect(items).toEqual(Array(8).fill([item]));
    } finally {
      await both.stop();
    }
    const compared = await runPlatform(['diff', 'work', 'database', '--project', folder], { DATABASE_URL: url });
    expect(compared).toMatchObject({ code: 0, stdout: expect.stringContaining('0 breaking, 0 dangerous, 0 safe') });
    await remove();
  },
);

async function workerPids(leader = server.pid): Promise<readonly number[]> {
  const children = await readFile(`/proc/${leader}/task/${leader}/children`, 'utf8');
  return children.split(/\s+/).filter(Boolean).map(Number);
}

/** Throws where there is none: a signal to 0 is for every process of the tests. */
async function firstWorker(leader = server.pid): Promise<number> {
  const [pid] = await workerPids(leader);
  if (pid === undefined) throw new Error(`The process ${leader} has no workers.`);
  return pid;
}
