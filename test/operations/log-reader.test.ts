/** A reader of the log that does not read: requests are answered all the same, and lines that are lost are told. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { generateHosted } from '../support/host.ts';
import { createProject, variablesOf } from '../support/platform.ts';

/** Much is sent, also on a machine that has other work. */
vi.setConfig({ testTimeout: 180_000 });

const command = join(import.meta.dirname, '../../packages/cli/bin/platform.cjs');

let database: TestDatabase;
let project: { readonly folder: string; remove(): Promise<void> };
beforeAll(async () => {
  database = await createDatabase('CREATE TABLE docs (id integer PRIMARY KEY); INSERT INTO docs VALUES (1)');
  project = await createProject();
  await writeFile(join(project.folder, 'permissions.yaml'), 'permissions: { public: { docs: { read: true } } }\n');
  await generateHosted(project.folder, database.url);
});
afterAll(async () => {
  await project?.remove();
  await database?.drop();
});

interface Unread {
  readonly url: string;
  readonly child: ChildProcess;
  /** Everything that was read of the log so far, and all messages. */
  log(): string;
  messages(): string;
  /** Reads from now on. */
  read(): void;
}

/** Starts a server, and reads its log no further than where it listens. */
async function startUnread(...args: readonly string[]): Promise<Unread> {
  const child = spawn(process.execPath, [command, 'start', '--json', '--project', project.folder, ...args], {
    env: variablesOf(database.url, { ACCESS_LOG: 'all', LOG_LEVEL: 'info' }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [log, messages] = ['', ''];
  child.stderr.on('data', (chunk) => {
    messages += String(chunk);
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      log += String(chunk);
      const [, found] = /"event":"listening","url":"([^"]*)"/.exec(log) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(messages)));
  });
  child.stdout.pause();
  return { url, child, log: () => log, messages: () => messages, read: () => void child.stdout.resume() };
}

/** Letters that make lines long, so that few of them fill what waits. */
const long = 'x'.repeat(8_000);

/** Asks for a path that the log names, and resolves to the longest time that an answer took. */
async function askMany(url: string, count: number): Promise<number> {
  let [asked, longest] = [0, 0];
  const askInTurn = async (): Promise<void> => {
    while (asked++ < count) {
      const since = performance.now();
      await (await fetch(`${url}/items/docs/${long}`)).arrayBuffer();
      longest = Math.max(longest, performance.now() - since);
    }
  };
  await Promise.all(Array.from({ length: 16 }, askInTurn));
  return longest;
}

const requests = (log: string): number => log.split('"A request was answered."').length - 1;
const dropped = (log: string): number =>
  [...log.matchAll(/"event":"lines-dropped","lines":(\d+)/g)].reduce((sum, [, lines]) => sum + Number(lines), 0);

it.each([[[]], [['--workers', '1']]])(
  '%j: requests do not wait for it, and dropped lines are counted',
  async (args) => {
    const server = await startUnread(...args);
    try {
      expect(await askMany(server.url, 700)).toBeLessThan(20_000);
      server.read();
      const seen = () => requests(server.log()) + dropped(server.log());
      await expect.poll(seen, { timeout: 60_000, interval: 250 }).toBe(700);
      expect(dropped(server.log())).toBeGreaterThan(50);
      for (const line of server.log().trim().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
    } finally {
      server.child.kill();
      await once(server.child, 'close');
    }
  },
);

it('a stop does not wait for it without end, and says what is lost', async () => {
  const server = await startUnread();
  await askMany(server.url, 200);
  const since = performance.now();
  server.child.kill();
  const [code] = await once(server.child, 'exit');
  expect(code).toBe(0);
  expect(performance.now() - since).toBeLessThan(10_000);
  server.read();
  await once(server.child, 'close');
  const [, lost = '0'] =
    /^(\d+) lines of the log are lost, because they were not read\.$/m.exec(server.messages()) ?? [];
  expect(Number(lost)).toBeGreaterThan(0);
  expect(requests(server.log()) + Number(lost)).toBeGreaterThanOrEqual(200);
});

it('a reader that has gone ends neither a server nor a command', async () => {
  const { url, child } = await startUnread('--workers', '2');
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdout?.destroy();
  child.stderr?.destroy();
  const childrenOf = async () =>
    (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim().split(' ');
  const before = await childrenOf();
  // The first process tells of it on the standard error.
  process.kill(Number(before[0]), 'SIGKILL');
  await expect
    .poll(async () => (await childrenOf()).filter((pid) => !before.includes(pid)), { timeout: 20_000 })
    .toHaveLength(1);
  await expect.poll(async () => (await fetch(`${url}/items/docs/1`)).status).toBe(200);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);

  const printing = spawn(process.execPath, [command, 'openapi', 'public', '--project', project.folder], {
    env: variablesOf(database.url, {}),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  printing.stdout.destroy();
  expect(await once(printing, 'exit')).toEqual([0, null]);
});
