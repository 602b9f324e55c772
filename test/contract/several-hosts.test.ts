/**
 * Several hosts in DATABASE_URL: writes follow the server that takes them, once each, and nothing acknowledged is lost. Source:
 * scale-out notes, section 2.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { away, becomes, primary, told } from '../support/host-told.ts';
import { createProject, type Platform, runPlatform, startUnchecked } from '../support/platform.ts';
import { createDatabaseOn, type PostgresPair, startPostgresPair, withClient } from '../support/postgres.ts';
import { failure } from '../support/project.ts';
import { countStatements } from '../support/proxy.ts';
import { installSystem } from '../support/system.ts';
import { fastestMs } from '../support/timing.ts';

type Project = Awaited<ReturnType<typeof createProject>>;

let pair: PostgresPair;
let project: Project;
let primaryUrl: string;
let standbyUrl: string;

async function begin(): Promise<void> {
  pair = await startPostgresPair();
  const database = await createDatabaseOn(pair.url);
  await installSystem(database.url);
  await withClient(database.url, (client) =>
    client.query('CREATE TABLE notes (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text UNIQUE)'),
  );
  primaryUrl = database.url;
  standbyUrl = pair.standbyUrl.replace(/\/postgres$/, `/${database.name}`);
  // A primary that is killed at once would take its tables along.
  for (let tries = 0; tries < 200; tries++) {
    if (await textsOn(standbyUrl).catch(() => null)) return;
    await sleep(50);
  }
}

/** The address of several: they have one user and one password. */
function listOf(...urls: readonly string[]): string {
  const [first = ''] = urls;
  return first.replace(/@[^/]*/, `@${urls.map((url) => new URL(url).host).join()}`);
}

const serve = (url: string, environment: Readonly<Record<string, string>> = {}): Promise<Platform> =>
  startUnchecked(project.folder, url, environment, []);

const write = (platform: Platform, text: string, headers: Readonly<Record<string, string>> = {}) =>
  platform.admin('/items/notes', { method: 'POST', body: { text }, headers });

/** Both servers have the same histories only where replication has caught up. */
async function synchronously(): Promise<void> {
  await withClient(pair.url, async (client) => {
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await client.query(`ALTER DATABASE ${new URL(primaryUrl).pathname.slice(1)} SET synchronous_commit = 'on'`);
    await client.query('SELECT pg_reload_conf()');
    const states = async () => (await client.query('SELECT sync_state AS is FROM pg_stat_replication')).rows;
    await expect.poll(states).toEqual([{ is: 'sync' }]);
  });
}

/**
 * Kills the primary, and waits until each of its processes has ended: one that still serves a connection may take a write
 * along, whose outcome stays unknown. The server has seen its connections close when this returns.
 */
async function killPrimary(server: Platform): Promise<void> {
  const backends = await withClient(pair.url, async (client) => {
    const { rows } = await client.query<{ pid: number }>('SELECT pid FROM pg_stat_activity');
    return rows.map(({ pid }) => pid);
  });
  process.kill(pair.pid, 'SIGKILL');
  await expect.poll(() => backends.filter(isRunning), { timeout: 20_000 }).toEqual([]);
  await server.ask('/server/ping');
}

/** False also for a process that has ended and waits for its parent; where the system does not tell, false. */
function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z');
  } catch {
    return false;
  }
}

const promote = (): Promise<unknown> => withClient(standbyUrl, (client) => client.query('SELECT pg_promote(true)'));

async function textsOn(url: string): Promise<readonly string[]> {
  const { rows } = await withClient(url, (client) => client.query<{ text: string }>('SELECT text FROM notes'));
  return rows.map(({ text }) => text).sort();
}

beforeAll(async () => {
  project = await createProject();
});
afterAll(() => project?.remove());
afterEach(() => pair?.stop());

describe('a primary and its standby', () => {
  it('writes to the primary wherever it stands in the list, and follows a promotion', async () => {
    await begin();
    await synchronously();
    const generated = await runPlatform(['generate', '--project', project.folder], {
      DATABASE_URL: listOf(standbyUrl, primaryUrl),
    });
    expect(generated.code).toBe(0);
    const server = await serve(listOf(standbyUrl, primaryUrl));
    try {
      expect(await told(server)).toEqual(primary);
      expect((await write(server, 'before')).status).toBe(200);
      await killPrimary(server);
      const waiting = Array.from({ length: 20 }, (_, index) => write(server, `during ${index}`));
      await sleep(300);
      await promote();
      const promotedAt = performance.now();
      const answers = await Promise.all(waiting);
      expect(answers.filter(({ status }) => status !== 200).map(failure)).toEqual([]);
      // `npm run topology` measures it on a machine at rest: within a second.
      expect(performance.now() - promotedAt).toBeLessThan(15_000);
      expect((await textsOn(standbyUrl)).length).toBe(21);
      await becomes(server, primary, 2_500);
    } finally {
      await server.stop();
    }
  });

  it('loses nothing and writes nothing twice under load', async () => {
    await begin();
    await synchronously();
    const server = await serve(listOf(primaryUrl, standbyUrl));
    const acknowledged = new Set<string>();
    let isOver = false;
    let last = 0;
    const writer = async (name: number): Promise<void> => {
      for (let number = 0; !isOver; number++) {
        const text = `${name}-${number}`;
        const headers = { 'idempotency-key': text };
        for (let tries = 0; tries < 40; tries++) {
          const { status } = await write(server, text, headers);
          if (status === 503) await sleep(100);
          else {
            expect([text, status]).toEqual([text, 200]);
            acknowledged.add(text);
            last = performance.now();
            break;
          }
        }
      }
    };
    try {
      const writing = Array.from({ length: 8 }, (_, name) => writer(name));
      await expect.poll(() => acknowledged.size).toBeGreaterThan(40);
      process.kill(pair.pid, 'SIGKILL');
      await promote();
      const promotedAt = performance.now();
      const before = acknowledged.size;
      // Those of the end are none that were under way.
      await expect.poll(() => acknowledged.size).toBeGreaterThan(before + 40);
      isOver = true;
      await Promise.all(writing);
      expect(last).toBeGreaterThan(promotedAt);
      const stored = await textsOn(standbyUrl);
      expect(new Set(stored).size).toBe(stored.length);
      expect([...acknowledged].filter((text) => !stored.includes(text))).toEqual([]);
    } finally {
      await server.stop();
    }
  });

  it('waits for a primary as long as it may, asks a standby for no write, and then says when to come back', async () => {
    await begin();
    const proxy = await countStatements(standbyUrl);
    const server = await serve(listOf(proxy.url, primaryUrl), { DATABASE_FAILOVER_WAIT: '700ms' });
    try {
      expect((await write(server, 'one')).status).toBe(200);
      process.kill(pair.pid, 'SIGKILL');
      await becomes(server, away, 2_500);
      proxy.reset();
      const refused = async (): Promise<void> => {
        const answers = await Promise.all(Array.from({ length: 5 }, (_, index) => write(server, `two ${index}`)));
        expect(answers.map(failure)).toEqual(answers.map(() => '503 SERVICE_UNAVAILABLE'));
        expect(answers[0]?.headers.get('retry-after')).toBe('1');
      };
      const ms = await fastestMs(refused);
      expect(ms).toBeGreaterThan(600);
      expect(ms).toBeLessThan(1_500);
      expect(proxy.errors()).toEqual([]);
      const { checks } = (await server.admin('/server/health')).json;
      expect(checks.database).toMatchObject({ status: 'error', state: 'read-only' });
    } finally {
      await server.stop();
      await proxy.close();
    }
  });

  it('does not go back to a former primary, and takes none of two whose history is the same', async () => {
    await begin();
    const server = await serve(listOf(primaryUrl, standbyUrl));
    try {
      expect((await write(server, 'one')).status).toBe(200);
      // Both take writes from here on: the later history is the right one.
      await promote();
      await expect
        .poll(async () => (await write(server, `two ${Math.random()}`)).status && textsOn(standbyUrl))
        .toHaveLength(2);
      const database = async () => (await server.admin('/server/health')).json.checks.database;
      await expect.poll(database).toMatchObject({
        status: 'ok',
        hosts: [{ state: 'primary' }, { state: 'primary' }],
        output: [expect.stringMatching(/its history ended.* It is not used: .* Place in DATABASE_URL: 1\.$/)],
      });
      process.kill(pair.standbyPid, 'SIGKILL');
      await becomes(server, away, 3_500);
      const { code } = (await write(server, 'three')).json.errors[0].extensions;
      expect(code).toBe('SERVICE_UNAVAILABLE');
      expect(await textsOn(primaryUrl)).not.toContain('three');
      expect(server.log()).toContain('its history ended when another one was promoted');
    } finally {
      await server.stop();
    }
  });

  it('starts without a server that takes writes, and writes as soon as there is one', async () => {
    await begin();
    process.kill(pair.pid, 'SIGKILL');
    const server = await serve(listOf(primaryUrl, standbyUrl), { DATABASE_FAILOVER_WAIT: '500ms' });
    try {
      expect(await told(server)).toEqual(away);
      await promote();
      await becomes(server, primary, 5_000);
      expect((await write(server, 'one')).status).toBe(200);
    } finally {
      await server.stop();
    }
  });
});

describe('settings', () => {
  const refused = async (environment: Readonly<Record<string, string>>): Promise<readonly [number | null, string]> => {
    const { code, stderr } = await runPlatform(['start', '--project', project.folder], environment);
    return [code, stderr];
  };

  it.each([
    ['postgres://a,b/c?target_session_attrs=fastest', 'target_session_attrs must be any, read-write or primary.'],
    ['postgres://a,,b/c', 'names a host without a name'],
  ])('stop the start: %s', async (url, sentence) => {
    // Settings that go with a list are not blamed for it.
    const [code, text] = await refused({ DATABASE_URL: url, DATABASE_READ_URL: 'postgres://a/c' });
    expect(text).toContain(sentence);
    expect(text).not.toContain('DATABASE_READ_URL');
    expect(code).toBe(4);
  });

  it.each([
    [{ DATABASE_READ_URL: 'postgres://b/c' }, 'DATABASE_READ_URL is set, but DATABASE_URL names no server.'],
    [
      { DATABASE_URL: 'postgres://a/c', DATABASE_LISTEN_URL: 'mysql://a/c' },
      'DATABASE_LISTEN_URL leads to another kind',
    ],
    [
      { DATABASE_URL: 'postgres://a/c', DATABASE_READ_URL: 'postgres://b/c', DATABASE_READ_ONLY: 'true' },
      'DATABASE_READ_URL and DATABASE_READ_ONLY are both set.',
    ],
    [{ CACHE_PURGE_URL: 'http://varnish:hidden-word@cache/' }, 'CACHE_PURGE_URL has "http://…@cache/", which is no'],
  ])('stop the start: %j', async (environment, sentence) => {
    const [code, text] = await refused(environment);
    expect([code, text]).toEqual([4, expect.stringContaining(sentence)]);
    expect(text).not.toContain('hidden-word');
  });

  it('let it wait where no name leads anywhere', async () => {
    const server = await serve('postgres://nowhere.invalid:1,nowhere.invalid:2/c', { DATABASE_FAILOVER_WAIT: '100ms' });
    expect(await told(server)).toEqual(away);
    expect(failure(await write(server, 'one'))).toBe('503 SERVICE_UNAVAILABLE');
    await server.stop();
  });
});
