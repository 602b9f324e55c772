/**
 * Every row of the table of health and readiness, and every change between them: each is seen soon, and nothing else is told
 * meanwhile. Galera has its own in host-states.test.ts, groups in host-states-group.test.ts. Source: scale-out notes, section 3; operations notes, section 6.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { generateHosted } from '../support/host.ts';
import { follows, promptMs, told } from '../support/host-told.ts';
import { createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { createDatabaseOn, type PostgresPair, startPostgresPair, withClient } from '../support/postgres.ts';
import { installSystem } from '../support/system.ts';
import { median } from '../support/timing.ts';

/** Health, `ready`, and `ready` of any role. */
type Told = readonly [health: string, ready: string, any: string];

const well: Told = ['200 ok', '200 ok', '200 ok'];
const partly: Told = ['200 warn', '200 ok', '200 ok'];
const damaged: Told = ['503 error', '503 schema', '503 schema'];
const down: Told = ['503 error', '503 database', '503 database'];
const byReplica: Told = ['503 warn', '503 database', '200 ok'];
const readOnly: Told = ['200 warn', '503 database', '200 ok'];

let pair: PostgresPair;
let project: Awaited<ReturnType<typeof createProject>>;
let primaryUrl: string;
let standbyUrl: string;
/** One server of its own, several with a replica, and one that is meant to read only. */
let servers: readonly Platform[] = [];
let now: readonly Told[] = [well, well, readOnly];
/** Milliseconds after which each change was told by all servers. */
const late: number[] = [];

beforeAll(async () => {
  [pair, project] = await Promise.all([startPostgresPair(), createProject()]);
  const database = await createDatabaseOn(pair.url);
  primaryUrl = database.url;
  standbyUrl = pair.standbyUrl.replace(/\/postgres$/, `/${database.name}`);
  await installSystem(primaryUrl);
  await onPrimary('CREATE TABLE notes (id integer PRIMARY KEY, text text)');
  await generateHosted(project.folder, primaryUrl);
  await until(() =>
    withClient(standbyUrl, (client) => client.query('SELECT 1 FROM notes')).then(
      () => true,
      () => false,
    ),
  );
  const list = primaryUrl.replace(/@[^/]*/, `@${[primaryUrl, standbyUrl].map((url) => new URL(url).host).join()}`);
  const serve = (url: string, environment: Readonly<Record<string, string>> = {}): Promise<Platform> =>
    startUnchecked(project.folder, url, environment, []);
  servers = await Promise.all([
    serve(primaryUrl),
    serve(list, { DATABASE_READ_URL: standbyUrl, DATABASE_READ_MAX_LAG: '1m' }),
    serve(standbyUrl, { DATABASE_READ_ONLY: 'true' }),
  ]);
  await until(async () => String(await Promise.all(servers.map((server) => told(server)))) === String(now));
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await Promise.all([pair?.stop(), project?.remove()]);
});

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 20_000; !(await isSo()); await sleep(50)) {
    if (performance.now() > end) throw new Error('The servers do not come to what they should.');
  }
}

/** Tells what each server says after a change, and that it says nothing but what was and what is so. */
async function changes(to: readonly Told[], change: () => unknown): Promise<void> {
  const from = now;
  now = to;
  await change();
  const changedAt = performance.now();
  const times = servers.map((server, index) => follows(server, from[index] ?? [], to[index] ?? [], changedAt));
  late.push(Math.max(...(await Promise.all(times))));
}

const onPrimary = (sql: string): Promise<unknown> => withClient(primaryUrl, (client) => client.query(sql));
const setReadOnly = async (value: string): Promise<void> => {
  await onPrimary(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
  await onPrimary('SELECT pg_reload_conf()');
};

it('tells of collections that are closed, and of their end', async () => {
  await changes([partly, partly, readOnly], () => onPrimary('ALTER TABLE notes RENAME COLUMN text TO body'));
  await changes([well, well, readOnly], () => onPrimary('ALTER TABLE notes RENAME COLUMN body TO text'));
});

it('tells of damage to the tables of the platform, and of its end', async () => {
  const rename = (from: string, to: string) => (): Promise<unknown> =>
    onPrimary(`ALTER TABLE platform.platform_users RENAME COLUMN ${from} TO ${to}`);
  const onlyRead: Told = ['503 error', '503 database', '503 schema'];
  await changes([damaged, damaged, onlyRead], rename('title', 'former'));
  await changes([well, well, readOnly], rename('former', 'title'));
});

it('tells of a table of the platform that is gone and no collection, and that it is back', async () => {
  const rename = (from: string, to: string) => (): Promise<unknown> =>
    onPrimary(`ALTER TABLE platform.${from} RENAME TO ${to}`);
  const onlyRead: Told = ['503 error', '503 database', '503 schema'];
  await changes([damaged, damaged, onlyRead], rename('platform_sessions', 'former_sessions'));
  await changes([well, well, readOnly], rename('former_sessions', 'platform_sessions'));
});

it('tells that a server is set to only read, and that it is no more', async () => {
  await changes([down, byReplica, readOnly], () => setReadOnly('on'));
  await changes([well, well, readOnly], async () => {
    await withClient(primaryUrl, async (client) => {
      await client.query('SET default_transaction_read_only = off');
      await client.query('ALTER SYSTEM RESET default_transaction_read_only');
      await client.query('SELECT pg_reload_conf()');
    });
  });
});

it('tells of a server that says nothing, and that it does again', async () => {
  const postmaster = (signal: 'SIGSTOP' | 'SIGCONT') => async (): Promise<void> => {
    const { rows } = signal === 'SIGSTOP' ? await activity() : { rows: stopped };
    stopped = rows;
    for (const pid of [pair.pid, ...rows.map((row) => row.pid)]) process.kill(pid, signal);
  };
  let stopped: readonly { readonly pid: number }[] = [];
  await changes([down, byReplica, readOnly], postmaster('SIGSTOP'));
  await changes([well, well, readOnly], postmaster('SIGCONT'));
});

it('tells that it drains', async () => {
  const list = primaryUrl.replace(/@[^/]*/, `@${[primaryUrl, standbyUrl].map((url) => new URL(url).host).join()}`);
  const server = await startUnchecked(project.folder, list, { SHUTDOWN_DELAY: '5s' }, []);
  const stopped = server.stop();
  await expect.poll(() => told(server), { interval: 10 }).toEqual(['200 ok', '503 draining', '503 draining']);
  expect(await stopped).toBe(0);
});

it('tells of a primary that is gone, and of another one', async () => {
  await changes([down, byReplica, readOnly], () => process.kill(pair.pid, 'SIGKILL'));
  await changes([down, well, readOnly], () =>
    withClient(standbyUrl, (client) => client.query('SELECT pg_promote(true)')),
  );
});

it('told most changes within their time', () => {
  expect(late).toHaveLength(12);
  expect(median(late), `${late}`).toBeLessThan(promptMs);
});

/** Processes of the sessions of the primary. */
function activity() {
  return withClient(primaryUrl, (client) =>
    client.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    ),
  );
}
