/** A start under systemd, by a real NOTIFY_SOCKET: ready when requests are answered, alive, and stopping. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { createProject, runPlatform, spawnPlatform, startUnchecked } from '../support/platform.ts';
import { startRelay } from '../support/relay.ts';

interface Message {
  readonly lines: readonly string[];
  /** What the server said when the message came; null before its address is known. */
  readonly ping: string | null;
}

const root = join(import.meta.dirname, '../..');
const canNotify = isThere('systemd-notify', '--version') && isThere('python3', '--version');

function isThere(...[command, ...args]: readonly [string, ...string[]]): boolean {
  try {
    return execFileSync(command, args, { stdio: ['ignore', 'pipe', 'ignore'] }).length > 0;
  } catch {
    return false;
  }
}

let folder: string;
let database: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'platform-notify-'));
  database = await createDatabase(
    'CREATE TABLE docs (id integer PRIMARY KEY); CREATE VIEW slow AS SELECT 1 AS id, pg_sleep(2)::text AS slept',
  );
  project = await createProject();
  expect((await runPlatform(['generate', '--project', project.folder], { DATABASE_URL: database.url })).code).toBe(0);
});
afterAll(async () => {
  await project?.remove();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** A socket that stands for systemd's, and what comes through it; it ends with the test, as the run cannot end before. */
async function listen(): Promise<{ readonly path: string; readonly messages: readonly Message[] }> {
  const path = join(mkdtempSync(join(folder, 'socket-')), 'notify');
  const child: ChildProcess = spawn('python3', [join(root, 'test/support/notify-socket.py'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const messages: Message[] = [];
  let text = '';
  const bound = Promise.withResolvers<void>();
  child.stdout?.on('data', (chunk) => {
    const lines = (text + String(chunk)).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const message = JSON.parse(line);
      if (message.bound === true) bound.resolve();
      else messages.push(message);
    }
  });
  await bound.promise;
  return { path, messages };
}

it.runIf(canNotify).each([
  ['one process', []],
  ['two workers', ['--workers', '2']],
] as const)(
  '%s: READY comes when requests are answered, WATCHDOG while it lives, STOPPING at its end',
  async (_, args) => {
    const socket = await listen();
    const environment = { NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: '400000', WATCHDOG_PID: '' };
    const server = await startUnchecked(project.folder, database.url, environment, [...args]);
    await expect.poll(() => socket.messages.length).toBeGreaterThan(3);
    const [first, ...more] = [...socket.messages];
    expect(first).toEqual({ lines: ['READY=1', `STATUS=Listening on ${server.url}`], ping: 'pong' });
    expect(new Set(more.map(({ lines }) => lines.join()))).toEqual(new Set(['WATCHDOG=1']));
    if (args.length > 0) {
      process.kill(server.pid, 'SIGHUP');
      await expect.poll(() => wordsOf(socket.messages)).toEqual(['READY=1', 'RELOADING=1', 'READY=1']);
    }
    const slow = server.admin('/items/slow?fields=id,slept');
    await expect.poll(isRunning).toBe(true);
    const begun = socket.messages.length;
    const stopped = server.stop(args.length > 0 ? 'SIGTERM' : 'SIGHUP');
    await expect.poll(() => wordsOf(socket.messages).at(-1)).toBe('STOPPING=1');
    if (args.length > 0) process.kill(server.pid, 'SIGHUP');
    expect((await slow).status).toBe(200);
    expect(await stopped).toBe(0);
    const words = socket.messages.slice(begun).map(({ lines }) => lines.join());
    expect(words.filter((word) => word !== 'WATCHDOG=1')).toEqual(['STOPPING=1']);
    expect(words.length - words.indexOf('STOPPING=1')).toBeGreaterThan(3);
  },
  120_000,
);

/** True while the request for slow rows is under way. */
async function isRunning(): Promise<boolean> {
  const sql =
    "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%slept%' AND pid <> pg_backend_pid()";
  return (await withClient(database.url, (client) => client.query(sql))).rows.length > 0;
}

it.runIf(canNotify).each([
  ['one process', [], []],
  ['two workers', ['--workers', '2'], ['STOPPING=1']],
] as const)(
  '%s: a signal ends a start that hangs, and none says that it is ready',
  async (_, args, words) => {
    const socket = await listen();
    let isHung = false;
    const hangsAt = (bytes: Buffer): boolean => {
      isHung ||= bytes.includes('pg_backend_pid');
      return isHung;
    };
    const relay = await startRelay(database.url, { hangsAt });
    const environment = { NOTIFY_SOCKET: socket.path, DATABASE_URL: relay.url, PORT: '0' };
    const server = spawnPlatform(['start', '--project', project.folder, ...args], environment);
    const ended = once(server, 'exit');
    try {
      await expect.poll(() => isHung, { timeout: 20_000 }).toBe(true);
      if (args.length > 0) server.kill('SIGHUP');
      await wait(500);
      server.kill('SIGTERM');
      expect(await Promise.race([ended, wait(20_000, 'it goes on')])).not.toBe('it goes on');
      await expect.poll(() => wordsOf(socket.messages)).toEqual(words);
    } finally {
      server.kill('SIGKILL');
      await relay.close();
    }
  },
  120_000,
);

it.runIf(canNotify)(
  'signs of life that take longer than their interval keep no other message waiting',
  async () => {
    const socket = await listen();
    const tools = mkdtempSync(join(folder, 'tools-'));
    const script = `#!/bin/sh\nPATH=$\{PATH#*${delimiter}}\nsleep 1\nexec systemd-notify "$@"\n`;
    writeFileSync(join(tools, 'systemd-notify'), script, { mode: 0o755 });
    const path = `${tools}${delimiter}${process.env.PATH}`;
    const environment = { NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: '200000', WATCHDOG_PID: '', PATH: path };
    const server = await startUnchecked(project.folder, database.url, environment);
    await expect.poll(() => socket.messages.length).toBeGreaterThan(3);
    expect(await server.stop()).toBe(0);
    await expect.poll(() => wordsOf(socket.messages)).toEqual(['READY=1', 'STOPPING=1']);
  },
  120_000,
);

it('signs of life end while all of several processes hang, and go on with one of them', async () => {
  const tools = mkdtempSync(join(folder, 'tools-'));
  const file = join(tools, 'messages');
  writeFileSync(join(tools, 'systemd-notify'), `#!/bin/sh\necho "$1" >> ${file}\n`, { mode: 0o755 });
  const path = `${tools}${delimiter}${process.env.PATH}`;
  const environment = { NOTIFY_SOCKET: '/nowhere', WATCHDOG_USEC: '200000', WATCHDOG_PID: '', PATH: path };
  const server = await startUnchecked(project.folder, database.url, environment, ['--workers', '2']);
  const count = () => readFileSync(file, 'utf8').split('WATCHDOG=1').length;
  const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8');
  // A message is sent by a process of its own.
  const workers = children.trim().split(' ').map(Number).slice(0, 2);
  const signal = (pids: readonly number[], name: 'SIGSTOP' | 'SIGCONT') => pids.map((pid) => process.kill(pid, name));
  try {
    await expect.poll(count).toBeGreaterThan(2);
    signal(workers.slice(1), 'SIGSTOP');
    const before = count();
    await expect.poll(count).toBeGreaterThan(before + 2);
    signal(workers, 'SIGSTOP');
    await wait(1_000);
    const last = count();
    await wait(1_000);
    expect(count()).toBe(last);
    signal(workers.slice(1), 'SIGCONT');
    await expect.poll(count).toBeGreaterThan(last + 2);
  } finally {
    signal(workers, 'SIGCONT');
    expect(await server.stop()).toBe(0);
  }
}, 120_000);

/** First lines, but for the signs of life. */
function wordsOf(messages: readonly Message[]): readonly string[] {
  return messages.map(({ lines }) => lines[0] ?? '').filter((line) => line !== 'WATCHDOG=1');
}

it.runIf(canNotify)('a start that fails never says that it is ready', async () => {
  const socket = await listen();
  const environment = { NOTIFY_SOCKET: socket.path, DATABASE_URL: database.url, PORT: 'none' };
  expect((await runPlatform(['start', '--project', project.folder], environment)).code).toBe(4);
  expect(socket.messages).toEqual([]);
});

it('without systemd-notify it serves all the same, and says so once', async () => {
  const environment = { NOTIFY_SOCKET: '/nowhere/notify', WATCHDOG_USEC: '100000', PATH: folder };
  const child = spawn(
    process.execPath,
    [join(root, 'packages/cli/src/main.ts'), 'start', '--project', project.folder],
    {
      env: { ...process.env, ...environment, DATABASE_URL: database.url, PORT: '0' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let text = '';
  child.stderr.on('data', (chunk) => (text += String(chunk)));
  await expect.poll(() => text).toContain('systemd cannot be told how the server is: spawn systemd-notify ENOENT');
  await new Promise((resolve) => setTimeout(resolve, 500));
  child.kill('SIGTERM');
  expect((await once(child, 'exit'))[0]).toBe(0);
  expect(text.split('systemd cannot').length).toBe(2);
});
