/**
 * Reads by replicas: which of them may be late, which see what was written before, and how they go on without one server or
 * another. Source: scale-out notes, sections 2 to 4.
 */
import { writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@tablewright/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { generateHosted } from '../support/host.ts';
import { becomes, primary, told } from '../support/host-told.ts';
import { administrator, adminToken, createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { createDatabaseOn, type PostgresPair, startPostgresPair, withClient } from '../support/postgres.ts';
import { type CountingProxy, countStatements } from '../support/proxy.ts';
import { installSystem } from '../support/system.ts';

const header = 'x-consistency-token';

const permissions = `
permissions:
  public:
    notes: { read: { fields: [id, text] } }
    pages: { read: { fields: [id, text] } }
    members: { read: { fields: [id, name] } }
    secrets:
      read: { fields: [id, text], filter: { owner: { name: { _eq: shown } } } }
    rumours:
      read: { fields: [id, text], filter: { owner: { name: { _eq: shown } } } }
`;

let pair: PostgresPair;
let project: Awaited<ReturnType<typeof createProject>>;
let writing: CountingProxy;
let reading: CountingProxy;
let standbyUrl: string;
let primaryUrl: string;
let server: Platform;
/** The same by the driver that sends the text of each statement, so that the proxies see which of them it went to; it bears little lag. */
let plain: Platform;

const replicas = (environment: Readonly<Record<string, string>> = {}): Promise<Platform> =>
  startUnchecked(
    project.folder,
    writing.url,
    { DATABASE_READ_URL: reading.url, DATABASE_READ_MAX_LAG: '1m', ...environment },
    [],
  );

beforeAll(async () => {
  [pair, project] = await Promise.all([startPostgresPair(), createProject()]);
  const database = await createDatabaseOn(pair.url);
  primaryUrl = database.url;
  standbyUrl = pair.standbyUrl.replace(/\/postgres$/, `/${database.name}`);
  await installSystem(database.url);
  await withClient(database.url, (client) =>
    client.query(`CREATE TABLE notes (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text);
      CREATE TABLE pages (id integer PRIMARY KEY, text text); INSERT INTO pages VALUES (1, 'page');
      CREATE TABLE members (id integer PRIMARY KEY, name text);
      CREATE TABLE secrets (id integer PRIMARY KEY, text text, owner integer REFERENCES members);
      CREATE TABLE rumours (id integer PRIMARY KEY, text text, owner integer REFERENCES members);
      INSERT INTO notes (text) VALUES ('one'); INSERT INTO members VALUES (1, 'shown');
      INSERT INTO secrets VALUES (1, 'a', 1); INSERT INTO rumours VALUES (1, 'b', 1)`),
  );
  await writeFile(join(project.folder, 'permissions.yaml'), permissions);
  await writeFile(
    join(project.folder, 'platform.config.ts'),
    `import { defineConfig } from 'tablewright/config';
export default defineConfig({ collections: { rumours: { reads: 'replica' }, members: { reads: 'replica' }, pages: { cache: { public: '60s' } } } });`,
  );
  await generateHosted(project.folder, primaryUrl);
  [writing, reading] = await Promise.all([countStatements(primaryUrl), countStatements(standbyUrl)]);
  [server, plain] = await Promise.all([
    replicas(),
    replicas({ DATABASE_DRIVER: 'pg', DATABASE_READ_MAX_LAG: '900ms', LOG_LEVEL: 'warn' }),
  ]);
  for (let tries = 0; tries < 100 && (await asked('/items/notes?fields=id')) !== 'replica'; tries++) await sleep(100);
});
afterAll(async () => {
  await Promise.all([server?.stop(), plain?.stop()]);
  await Promise.all([writing?.close(), reading?.close(), pair?.stop(), project?.remove()]);
});

/** The server that answers a request: the one whose statement names the table. */
async function asked(path: string, headers: Readonly<Record<string, string>> = {}, platform = plain): Promise<string> {
  const table = /items\/(\w+)/.exec(path)?.[1] ?? '';
  writing.reset();
  reading.reset();
  expect((await platform.ask(path, { headers })).status).toBe(200);
  const [isPrimary, isReplica] = [writing, reading].map((proxy) =>
    proxy.texts().some((text) => text.includes(`"${table}"`)),
  );
  if (isPrimary && isReplica) return 'both';
  return isPrimary ? 'primary' : isReplica ? 'replica' : 'none';
}

const write = (text: string, platform = server, headers: Readonly<Record<string, string>> = {}) =>
  platform.admin('/items/notes?fields=id', { method: 'POST', body: { text }, headers });

it('has replicas answer what may be late, and the primary the rest', async () => {
  await expect.poll(() => asked('/items/notes?fields=text')).toBe('replica');
  await expect.poll(() => asked('/items/notes/1?fields=text')).toBe('replica');
  await expect.poll(() => asked('/items/members?fields=name')).toBe('replica');
  expect(await asked('/items/secrets?fields=text')).toBe('primary');
  await expect.poll(() => asked('/items/rumours?fields=text')).toBe('replica');
  await expect.poll(() => asked('/items/notes?fields=text&limit=-1')).toBe('replica');
});

it('has the primary answer what shared caches keep, which a replica would fill with rows of before a purge', async () => {
  expect(await asked('/items/pages?fields=text')).toBe('primary');
  expect(await asked('/items/pages/1?fields=text')).toBe('primary');
  expect(await asked('/items/pages?fields=text&limit=-1')).toBe('primary');
  expect((await plain.ask('/items/pages?fields=text')).headers.get('cache-control')).toContain('s-maxage=60');
  await expect.poll(() => asked('/items/pages?fields=text', { authorization: `Bearer ${adminToken}` })).toBe('replica');
  expect(await asked('/items/pages?fields=text', { [header]: 'latest' })).toBe('primary');
});

it('carries the position of a write to the reads after it, whichever they are', async () => {
  await delay('200ms');
  try {
    for (let number = 0; number < 20; number++) {
      const written = await write(`note ${number}`);
      const token = written.headers.get(header) ?? '';
      expect(token).toMatch(/^[\w-]{20,512}$/);
      const { id } = written.json.data;
      const read = await server.ask(`/items/notes/${id}?fields=text`, { headers: { [header]: token } });
      expect([read.status, read.json.data]).toEqual([200, { text: `note ${number}` }]);
      expect(read.headers.get(header)).toBe(token);
      const query = `{ notes_by_id(id: ${id}) { text } }`;
      const over = await server.ask('/graphql', { method: 'POST', body: { query }, headers: { [header]: token } });
      expect(over.json).toEqual({ data: { notes_by_id: { text: `note ${number}` } } });
    }
  } finally {
    await delay('0');
  }
  // Without a token the same is late.
  await whilePaused(async () => {
    const late = await write('late');
    await expect.poll(async () => (await server.ask(`/items/notes/${late.json.data.id}`)).status).toBe(403);
  });
});

it('waits for a replica that is about to follow, and then asks no more', async () => {
  const token = (await write('followed')).headers.get(header) ?? '';
  await expect.poll(() => asked('/items/notes?fields=id&limit=1', { [header]: token })).toBe('replica');
});

it('asks no longer where a replica is for a client that has left', { timeout: 60_000 }, async () => {
  const patient = await replicas({ DATABASE_DRIVER: 'pg', DATABASE_READ_WAIT: '1m' });
  /** Questions in a tenth of a second. */
  const questions = async (): Promise<number> => {
    reading.reset();
    await sleep(100);
    return reading.texts().filter((text) => text.startsWith('SELECT CASE WHEN pg_catalog.pg_is_in_recovery()')).length;
  };
  try {
    await expect.poll(() => asked('/items/notes?fields=id', {}, patient)).toBe('replica');
    await whilePaused(async () => {
      const token = (await write('left')).headers.get(header) ?? '';
      for (const path of ['/items/notes?fields=id', '/items/notes/1?fields=id', '/items/notes?fields=id&limit=-1']) {
        const leaving = get(`${patient.url}${path}`, { headers: { [header]: token } }).on('error', () => undefined);
        await expect.poll(questions, { timeout: 10_000 }).toBeGreaterThan(2);
        leaving.destroy();
        await expect.poll(questions, { timeout: 10_000 }).toBe(0);
      }
    });
  } finally {
    await patient.stop();
  }
});

it('takes tokens that it has not made for the latest position, and tells nothing by its own', async () => {
  const token = (await write('own')).headers.get(header) ?? '';
  const bytes = Buffer.from(token, 'base64url').toString('latin1');
  const { rows } = await withClient(primaryUrl, (client) =>
    client.query('SELECT system_identifier::text AS id FROM pg_control_system()'),
  );
  expect(bytes).not.toContain(rows[0].id);
  expect(bytes).not.toMatch(/\d\/[0-9A-F]{4}/);
  const flipped = `${token.slice(0, -2)}${token.endsWith('AA') ? 'BB' : 'AA'}`;
  const others = [
    'latest',
    'x',
    '!',
    flipped,
    token.repeat(200),
    `${token},${flipped}`,
    Array(20).fill(token).join(),
    ',',
  ];
  for (const other of others) {
    expect(await asked('/items/notes?fields=id&limit=1', { [header]: other })).toBe('primary');
  }
  const foreign = await replicas({
    DATABASE_DRIVER: 'pg',
    SECRET: 'another secret, of which this server knows nothing at all',
  });
  await expect.poll(() => asked('/items/notes?fields=id&limit=2', {}, foreign)).toBe('replica');
  expect(await asked('/items/notes?fields=id&limit=2', { [header]: token }, foreign)).toBe('primary');
  await foreign.stop();
});

it('keeps the position of a session in cookies in a cookie', async () => {
  const { email, password } = administrator;
  const login = await server.ask('/auth/login', { method: 'POST', body: { email, password, mode: 'cookie' } });
  const refresh =
    /([\w-]+=[^;]+)/.exec(login.headers.getSetCookie().find((cookie) => cookie.includes('refresh')) ?? '')?.[1] ?? '';
  const written = await write('cookie', server, { cookie: refresh });
  const cookie = written.headers.getSetCookie().find((text) => text.startsWith('platform_consistency=')) ?? '';
  expect(cookie).toMatch(/; Path=\/; HttpOnly;.* SameSite=\w+; Max-Age=60$/);
  const [pairOf = ''] = cookie.split(';');
  expect(pairOf).toBe(`platform_consistency=${written.headers.get(header)}`);
  await whilePaused(async () => {
    const late = await write('cookie, late', server, { cookie: refresh });
    const [own = ''] =
      late.headers
        .getSetCookie()
        .find((text) => text.startsWith('platform_consistency='))
        ?.split(';') ?? [];
    const path = `/items/notes/${late.json.data.id}`;
    await expect.poll(async () => (await server.ask(path)).status).toBe(403);
    expect((await server.ask(path, { headers: { cookie: `${refresh}; ${own}` } })).status).toBe(200);
  });
});

it('is sent back by our client unasked', async () => {
  await delay('200ms');
  try {
    const client = createClient<{ readonly notes: { readonly id: number; readonly text: string } }>(server.url, {
      auth: { staticToken: adminToken },
    });
    const notes = client.items('notes');
    for (let number = 0; number < 10; number++) {
      const made = await Promise.all([
        notes.createOne({ text: `a ${number}` }),
        notes.createOne({ text: `b ${number}` }),
      ]);
      const read = await Promise.all(made.map((item) => notes.readOne(item?.id ?? 0)));
      expect(read.map(({ text }) => text)).toEqual([`a ${number}`, `b ${number}`]);
    }
  } finally {
    await delay('0');
  }
});

it('asks no replica that stands still', async () => {
  const readAfter = async (text: string): Promise<string> => {
    await write(text);
    return asked('/items/notes?fields=id&limit=3');
  };
  await whilePaused(async () => {
    // `npm run topology` measures after which time.
    await expect.poll(() => readAfter(`paused ${performance.now()}`)).toBe('primary');
    for (let number = 0; number < 30; number++) expect(await readAfter(`still ${number}`)).toBe('primary');
    const { checks } = (await server.admin('/server/health')).json;
    const hosts = [
      { role: 'write', state: 'primary' },
      { role: 'read', state: 'read-only', lag: expect.any(Number) },
    ];
    expect(checks.database.hosts).toEqual(hosts);
    expect(plain.log()).toContain('A replica lags more than DATABASE_READ_MAX_LAG allows.');
  });
  await expect.poll(() => asked('/items/notes?fields=id&limit=3')).toBe('replica');
});

it('asks no replica that has stood still since before the server began', async () => {
  await whilePaused(async () => {
    const { id } = (await write('before the start')).json.data;
    const late = await replicas({ DATABASE_READ_MAX_LAG: '5s', LOG_LEVEL: 'warn' });
    try {
      for (const end = performance.now() + 3_000; performance.now() < end; await sleep(10))
        expect((await late.ask(`/items/notes/${id}?fields=text`)).json.data).toEqual({ text: 'before the start' });
      expect(late.log()).toContain('A replica lags more than DATABASE_READ_MAX_LAG allows.');
    } finally {
      await late.stop();
    }
  });
});

it('reads on without a primary, and says so', async () => {
  expect(await told(server)).toEqual(primary);
  const reads = Array.from({ length: 4 }, () => readFor(3_000));
  await sleep(300);
  process.kill(pair.pid, 'SIGKILL');
  expect((await Promise.all(reads)).flat()).toEqual([]);
  await becomes(server, ['503 warn', '503 database', '200 ok'], 3_000);
  await expect.poll(() => asked('/items/notes?fields=text&limit=4')).toBe('replica');
  expect((await server.ask('/items/secrets')).status).toBe(503);
});

/** Statuses of reads that failed. */
async function readFor(ms: number): Promise<readonly number[]> {
  const failed: number[] = [];
  for (const end = performance.now() + ms; performance.now() < end; await sleep(5)) {
    const { status } = await server.ask('/items/notes?fields=text&limit=5');
    if (status !== 200) failed.push(status);
  }
  return failed;
}

async function onStandby(sql: string): Promise<void> {
  await withClient(standbyUrl, (client) => client.query(sql));
}

/** Does something while the standby applies no change. */
async function whilePaused(work: () => Promise<void>): Promise<void> {
  const state = () =>
    withClient(standbyUrl, async (client) => (await client.query('SELECT pg_get_wal_replay_pause_state() AS is')).rows);
  await onStandby('SELECT pg_wal_replay_pause()');
  try {
    await expect.poll(state).toEqual([{ is: 'paused' }]);
    await work();
  } finally {
    await onStandby('SELECT pg_wal_replay_resume()');
  }
}

/** Has the standby apply each change so much later. */
async function delay(time: string): Promise<void> {
  await onStandby(`ALTER SYSTEM SET recovery_min_apply_delay = '${time}'`);
  await onStandby('SELECT pg_reload_conf()');
  // Sessions that begin later have it once the server has told it to its other processes.
  const shown = () =>
    withClient(standbyUrl, async (client) => (await client.query('SHOW recovery_min_apply_delay')).rows);
  await expect.poll(shown).toEqual([{ recovery_min_apply_delay: time }]);
}
