/** The first start of a project with users: a secret that is kept, an administrator who is told once, and no start without. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { keptSecret } from '@tablewright/runtime/tools';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { commandVariables, createProject, type Platform, runPlatform, startPlatform } from '../support/platform.ts';
import { installSystem } from '../support/system.ts';

let project: Awaited<ReturnType<typeof createProject>>;
/** A project of a database server, which begins without tables to start from. */
let served: Awaited<ReturnType<typeof createProject>>;
beforeAll(async () => {
  [project, served] = await Promise.all([createProject(), createProject()]);
  await runPlatform(['init', '--yes', '--project', served.folder], { DATABASE_URL: 'postgres://127.0.0.1:1/shop' });
});
afterAll(() => Promise.all([project?.remove(), served?.remove()]));

const unset = { SECRET: '', ADMIN_EMAIL: '', ADMIN_PASSWORD: '' };

/** What was said about an administrator. */
function told(platform: Platform): unknown[] {
  const events = platform
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{"event":"administrator"'));
  return events.map((line) => JSON.parse(line));
}

it('with the embedded database makes both, once', async () => {
  expect((await runPlatform(['init', '--system', '--yes', '--project', project.folder])).code).toBe(0);
  const first = await startPlatform(project.folder, '', unset);
  const [administrator] = told(first);
  expect(administrator).toEqual({
    event: 'administrator',
    email: 'admin@example.com',
    madePassword: null,
    passwordFile: join(relative(process.cwd(), project.folder), '.platform/admin-password'),
  });
  const file = join(project.folder, '.platform', 'admin-password');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const password = (await readFile(file, 'utf8')).trim();
  expect(password).toMatch(/^[\w-]{20}$/);
  expect(first.log()).not.toContain(password);
  const body = { email: 'admin@example.com', password };
  const { json } = await first.ask('/auth/login', { method: 'POST', body });
  await first.stop();
  expect((await stat(join(project.folder, '.platform', 'secret'))).mode & 0o777).toBe(0o600);

  const second = await startPlatform(project.folder, '', unset, []);
  expect(told(second)).toEqual([]);
  const me = await second.ask('/users/me?fields=email', { token: json.data.access_token });
  expect(me.json).toEqual({ data: { email: 'admin@example.com' } });
  await second.stop();
}, 120_000);

it('ends a start whose kept secret is not whole: its tokens could be made by everybody', async () => {
  const file = join(project.folder, '.platform', 'secret');
  const kept = await readFile(file, 'utf8');
  try {
    for (const text of ['', kept.slice(0, 20)]) {
      await writeFile(file, text);
      const { code, stderr } = await runPlatform(['start', '--project', project.folder], {
        ...unset,
        DATABASE_URL: '',
      });
      expect([code, stderr]).toEqual([4, expect.stringContaining('cannot be read or is not whole: remove it')]);
    }
  } finally {
    await writeFile(file, kept);
  }
}, 60_000);

it('keeps one secret where many processes start at once', async () => {
  const folder = join(project.folder, 'at-once');
  const secrets = await Promise.all(Array.from({ length: 50 }, () => keptSecret(folder)));
  expect(new Set(secrets).size).toBe(1);
  expect(await readdir(folder)).toEqual(['secret']);
});

it('names the way to sign in where passwords are off', async () => {
  const command = join(import.meta.dirname, '../../packages/cli/bin/platform.cjs');
  const started = spawn(process.execPath, [command, 'start', '--project', project.folder], {
    env: commandVariables({ ...unset, PORT: '0', AUTH_DISABLE_DEFAULT: 'true' }),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(started, 'exit');
  try {
    let printed = '';
    for await (const chunk of started.stderr) {
      printed += String(chunk);
      if (printed.includes('Sign in: ')) break;
    }
    expect(printed).toContain('Sign in: by a provider, which GET /auth names');
    expect(printed).not.toContain('POST /auth/login');
  } finally {
    started.kill('SIGINT');
    await ended;
  }
}, 60_000);

it('with a database server does not start without SECRET', async () => {
  const database = await createDatabase();
  await installSystem(database.url);
  const environment = { ...unset, DATABASE_URL: database.url, PORT: '0' };
  const { code, stderr } = await runPlatform(['start', '--generate', '--project', served.folder], environment);
  await database.drop();
  const message =
    'SECRET is required where there are users, the same for every process: `openssl rand -hex 32` prints one.';
  expect([code, stderr]).toEqual([4, expect.stringContaining(message)]);
}, 60_000);

it('of several processes at once makes one administrator', async () => {
  const database = await createDatabase();
  await installSystem(database.url);
  const generated = await runPlatform(['generate', '--project', served.folder], { DATABASE_URL: database.url });
  expect(generated.code).toBe(0);
  const servers = await Promise.all([0, 1, 2].map(() => startPlatform(served.folder, database.url, {}, [])));
  expect(servers.flatMap(told)).toEqual([
    { event: 'administrator', email: 'admin@example.com', madePassword: null, passwordFile: null },
  ]);
  await Promise.all(servers.map((server) => server.stop()));
  await database.drop();
}, 120_000);
