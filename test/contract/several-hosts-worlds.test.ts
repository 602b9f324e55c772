/**
 * Bad worlds: hosts that are not what addresses promise, two servers that take writes, histories that ended, clocks that
 * jump, and tokens of other times and places. Source: scale-out notes, sections 2 and 4.
 */
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { generateHosted } from '../support/host.ts';
import { away, becomes, primary, told } from '../support/host-told.ts';
import { createProject, type Platform, startUnchecked } from '../support/platform.ts';
import {
  createDatabaseOn,
  type PostgresPair,
  startPostgresPair,
  startPostgresTwins,
  type TestDatabase,
  withClient,
} from '../support/postgres.ts';
import { failure } from '../support/project.ts';
import { countStatements } from '../support/proxy.ts';
import { installSystem } from '../support/system.ts';

const header = 'x-consistency-token';
const longMs = 60_000;
vi.setConfig({ testTimeout: 240_000 });
const password = 'secret-of-worlds';

let pair: PostgresPair;
/** A database of another cluster, with the same name, tables and user. */
let foreign: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
let primaryUrl: string;
let standbyUrl: string;
let foreignUrl: string;

const sql = `CREATE TABLE notes (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text);`;

beforeAll(async () => {
  [pair, project] = await Promise.all([startPostgresPair(), createProject()]);
  foreign = await createDatabaseOn(inject('postgresUrl'));
  const role = foreign.name;
  for (const url of [pair.url, inject('postgresUrl')])
    await withClient(url, (client) => client.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}' SUPERUSER`));
  await withClient(pair.url, (client) => client.query(`CREATE DATABASE ${role}`));
  const named = (url: string): string => {
    const { host } = new URL(url);
    return `postgres://${role}:${password}@${host}/${role}`;
  };
  [primaryUrl, standbyUrl, foreignUrl] = [named(pair.url), named(pair.standbyUrl), named(foreign.url)];
  for (const [url, text] of [
    [primaryUrl, 'own'],
    [foreignUrl, 'foreign'],
  ] as const) {
    await installSystem(url);
    await withClient(url, (client) => client.query(`${sql} INSERT INTO notes (text) VALUES ('${text}')`));
  }
  for (let tries = 0; tries < 600 && !(await textsOn(standbyUrl).catch(() => null))?.length; tries++) await sleep(100);
  await generateHosted(project.folder, primaryUrl);
}, 120_000);
afterAll(async () => {
  await Promise.all([pair?.stop(), project?.remove()]);
  await foreign?.drop();
  if (foreign) await withClient(inject('postgresUrl'), (client) => client.query(`DROP ROLE ${foreign.name}`));
});

/** The address of several hosts. */
function listOf(...hosts: readonly string[]): string {
  const names = hosts.map((host) => (host.includes('//') ? new URL(host).host : host));
  return primaryUrl.replace(/@[^/]*/, `@${names.join()}`);
}

const serve = (url: string, environment: Readonly<Record<string, string>> = {}): Promise<Platform> =>
  startUnchecked(project.folder, url, { DATABASE_FAILOVER_WAIT: '30s', ...environment }, []);

const write = (platform: Platform, text: string) =>
  platform.admin('/items/notes?fields=id', { method: 'POST', body: { text } });

async function readTexts(
  platform: Platform,
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const { status, json } = await platform.admin('/items/notes?fields=text&limit=-1', { headers });
  expect(status).toBe(200);
  return json.data.map(({ text }: { readonly text: string }) => text);
}

async function textsOn(url: string): Promise<readonly string[]> {
  const { rows } = await withClient(url, (client) => client.query<{ text: string }>('SELECT text FROM notes'));
  return rows.map(({ text }) => text);
}

async function logs(platform: Platform, sentence: string): Promise<void> {
  await expect.poll(() => platform.log(), { timeout: longMs }).toContain(sentence);
}

/** A port that leads to a server only once it is told to. */
async function lateHost(url: string): Promise<{ readonly host: string; open(): Promise<Server> }> {
  const port = await freePort();
  const { hostname, port: target } = new URL(url);
  return {
    host: `127.0.0.1:${port}`,
    async open() {
      const server = createServer((client) => {
        const upstream = connect(Number(target), hostname);
        client.on('error', () => upstream.destroy()).pipe(upstream);
        upstream.on('error', () => client.destroy()).pipe(client);
      }).listen(port, '127.0.0.1');
      await once(server, 'listening');
      return server;
    },
  };
}

it('never asks a replica of another cluster', async () => {
  const server = await serve(primaryUrl, { DATABASE_READ_URL: foreignUrl });
  try {
    await logs(server, 'A replica holds another cluster of data than the server that takes writes. It is not asked.');
    for (let number = 0; number < 20; number++) expect(await readTexts(server)).toEqual(['own']);
    const query = '{ notes { text } }';
    const { json } = await server.admin('/graphql', { method: 'POST', body: { query } });
    expect(json).toEqual({ data: { notes: [{ text: 'own' }] } });
  } finally {
    await server.stop();
  }
});

it('never asks a replica for another database of its cluster', async () => {
  const other = `${foreign.name}_other`;
  const [ownUrl, otherUrl] = [primaryUrl, standbyUrl].map((url) => new URL(`/${other}`, url).href);
  await withClient(pair.url, (client) => client.query(`CREATE DATABASE ${other}`));
  await withClient(ownUrl ?? '', (client) => client.query(`${sql} INSERT INTO notes (text) VALUES ('elsewhere')`));
  await expect.poll(() => textsOn(otherUrl ?? '').catch(() => []), { timeout: longMs }).toEqual(['elsewhere']);
  const server = await serve(primaryUrl, { DATABASE_READ_URL: otherUrl ?? '' });
  try {
    await logs(server, 'A replica is named with another database than DATABASE_URL has. It is not asked.');
    for (let number = 0; number < 20; number++) expect(await readTexts(server)).toContain('own');
  } finally {
    await server.stop();
  }
});

it('never writes to a candidate of another cluster that comes later', async () => {
  const late = await lateHost(foreignUrl);
  const server = await serve(listOf(primaryUrl, standbyUrl, late.host));
  const opened = await late.open();
  try {
    await logs(server, 'A database server holds another cluster of data than the one that was written before.');
    expect(server.log()).toContain('"hosts":[3]');
    expect((await write(server, 'beside a foreign host')).status).toBe(200);
    expect(await textsOn(foreignUrl)).toEqual(['foreign']);
    await becomes(server, primary, longMs);
  } finally {
    await server.stop();
    opened.close();
  }
});

it('goes on where one name of several leads nowhere, and says so once', async () => {
  const nowhere = 'nowhere.invalid:5432';
  const server = await serve(listOf(nowhere, standbyUrl, primaryUrl), {
    DATABASE_READ_URL: listOf(standbyUrl, nowhere),
    LOG_LEVEL: 'warn',
  });
  try {
    expect((await write(server, 'beside nowhere')).status).toBe(200);
    await logs(server, 'A database server does not answer.');
    await logs(server, 'A replica does not answer.');
    for (let number = 0; number < 10; number++) expect(await readTexts(server)).toContain('own');
    await becomes(server, primary, longMs);
    const states = async (): Promise<readonly string[]> => {
      const { hosts } = (await server.admin('/server/health')).json.checks.database;
      return hosts.map(({ state }: { readonly state: string }) => state);
    };
    const expected = ['away', 'read-only', 'primary', 'read-only', 'away'];
    await expect.poll(states, { timeout: longMs }).toEqual(expected);
    const silent = server
      .log()
      .split('\n')
      .filter((line) => line.includes('A database server does not answer.'));
    expect(silent.filter((line) => line.includes('"host":1,'))).toHaveLength(1);
    const replica = server
      .log()
      .split('\n')
      .find((line) => line.includes('A replica does not answer.'));
    expect(JSON.parse(replica ?? '')).toMatchObject({
      replica: 2,
      cause: { message: expect.stringContaining('nowhere.invalid') },
    });
  } finally {
    await server.stop();
  }
});

it('writes to none of two servers that take writes with one history, until one is left', async () => {
  const twins = await startPostgresTwins();
  const role = foreign.name;
  for (const url of [twins.url, twins.standbyUrl]) {
    const { host } = new URL(url);
    await withClient(url, async (client) => {
      await client.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}' SUPERUSER`);
      await client.query(`CREATE DATABASE ${role}`);
    });
    const own = `postgres://${role}:${password}@${host}/${role}`;
    await installSystem(own);
    await withClient(own, (client) => client.query(sql));
  }
  const [first, second] = [twins.url, twins.standbyUrl].map((url) => new URL(url).host);
  const server = await serve(listOf(first ?? '', second ?? ''), { DATABASE_FAILOVER_WAIT: '500ms' });
  try {
    await logs(server, 'Two database servers take writes, and none of them is known to be the right one.');
    expect(server.log()).toContain('"hosts":[1,2]');
    expect(await told(server)).toEqual(away);
    expect(failure(await write(server, 'to one of two'))).toBe('503 SERVICE_UNAVAILABLE');
    process.kill(twins.standbyPid, 'SIGKILL');
    await becomes(server, primary, longMs);
    expect((await write(server, 'to the last')).status).toBe(200);
    expect(await textsOn(`postgres://${role}:${password}@${first}/${role}`)).toEqual(['to the last']);
  } finally {
    await server.stop();
    await twins.stop();
  }
});

/** Moves the clock of a process by a day, forth and back, five times a second; `performance.now` goes on. */
const jumpingClock = `const now = Date.now; let by = 0;
setInterval(() => { by = by > 0 ? -864e5 : 864e5; }, 200).unref();
Date.now = () => now() + by;
globalThis.Date = class extends Date { constructor(...parts) { parts.length ? super(...parts) : super(now() + by); } };
globalThis.Date.now = Date.now;`;

it('reads by replicas, and what it has written, while its clock jumps', async () => {
  const proxy = await countStatements(standbyUrl);
  const server = await serve(listOf(primaryUrl, standbyUrl), {
    DATABASE_READ_URL: proxy.url,
    DATABASE_DRIVER: 'pg',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(jumpingClock)}`,
  });
  try {
    const isAsked = async (): Promise<boolean> => {
      proxy.reset();
      await readTexts(server);
      return proxy.texts().some((text) => text.includes('"notes"'));
    };
    await expect.poll(isAsked, { timeout: longMs }).toBe(true);
    for (let number = 0; number < 20; number++) {
      const text = `jump ${number}`;
      const written = await write(server, text);
      expect(written.status).toBe(200);
      const token = written.headers.get(header) ?? '';
      expect(token).toMatch(/^[\w-]{20,}$/);
      expect(await readTexts(server, { [header]: token })).toContain(text);
    }
    await expect.poll(isAsked, { timeout: longMs }).toBe(true);
    await becomes(server, primary, longMs);
  } finally {
    await server.stop();
    await proxy.close();
  }
});

it('reads nothing from a server whose history ended, and takes tokens of it for the latest position', async () => {
  const before = await serve(primaryUrl, { DATABASE_READ_URL: standbyUrl });
  const old = (await write(before, 'before')).headers.get(header) ?? '';
  expect(old).toMatch(/^[\w-]{20,}$/);
  await before.stop();
  await expect.poll(() => textsOn(standbyUrl), { timeout: longMs }).toContain('before');
  // Both take writes from here on, and the former primary goes on alone.
  await withClient(standbyUrl, (client) => client.query('SELECT pg_promote(true)'));
  await withClient(primaryUrl, (client) => client.query(`INSERT INTO notes (text) VALUES ('alone')`));
  const [writing, reading] = await Promise.all([countStatements(standbyUrl), countStatements(standbyUrl)]);
  const server = await serve(writing.url, {
    DATABASE_READ_URL: `${listOf(primaryUrl, reading.url)}`,
    DATABASE_DRIVER: 'pg',
  });
  const elsewhere = await serve(foreignUrl, { DATABASE_READ_URL: foreignUrl });
  try {
    await logs(server, 'A replica takes writes of its own, but its history ended when another server was promoted.');
    const asked = async (headers: Readonly<Record<string, string>> = {}): Promise<string> => {
      for (const proxy of [writing, reading]) proxy.reset();
      const texts = await readTexts(server, headers);
      expect(texts).toContain('before');
      expect(texts).not.toContain('alone');
      return reading.texts().some((text) => text.includes('"notes"')) ? 'replica' : 'primary';
    };
    await expect.poll(() => asked(), { timeout: longMs }).toBe('replica');
    const own = (await write(server, 'after')).headers.get(header) ?? '';
    await expect.poll(() => asked({ [header]: own }), { timeout: longMs }).toBe('replica');
    const other = (await write(elsewhere, 'elsewhere')).headers.get(header) ?? '';
    expect(other).toMatch(/^[\w-]{20,}$/);
    const long = own.repeat(Math.ceil(10_000 / own.length)).slice(0, 10_240);
    for (const token of [old, other, `${own},${old}`, long]) expect(await asked({ [header]: token })).toBe('primary');
  } finally {
    await Promise.all([server.stop(), elsewhere.stop()]);
    await Promise.all([writing.close(), reading.close()]);
  }
});
