/** Lines about slow statements, of the command as its users start it, over PostgreSQL, embedded or not, and MariaDB. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { dataSql } from '../../fixtures/magazine/data.ts';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { createEmbedded } from '../support/embedded.ts';
import { generateHosted } from '../support/host.ts';
import { createMagazineDatabase } from '../support/magazine.ts';
import { createMysqlDatabase, withMysql } from '../support/mariadb.ts';
import { administrator, createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { startRelay } from '../support/relay.ts';
import { servers } from '../support/servers.ts';
import { installSystem } from '../support/system.ts';

/** Servers start many times, also where other tests run. */
vi.setConfig({ testTimeout: 180_000 });

/** A statement that takes 1,200 ms, and gives two rows. */
const sql = `
  CREATE TABLE docs (id integer PRIMARY KEY, title text, size integer);
  INSERT INTO docs SELECT i, 'Title ' || i, i FROM generate_series(1, 300) i;
  CREATE FUNCTION wait(id integer) RETURNS boolean LANGUAGE sql VOLATILE AS 'SELECT pg_catalog.pg_sleep(0.6) IS NOT NULL';
  CREATE VIEW slow AS SELECT id, title, wait(id) AS waited FROM docs WHERE id IN (1, 2);
  CREATE TABLE waits (id integer PRIMARY KEY CHECK (wait(id)));`;

const full = '{ create: true, read: true, update: true, delete: true }';
const rules = (more = '') => `permissions: { public: { docs: ${full}, slow: { read: true }${more} } }\n`;
const secret = 'zqSECRET51';

type Line = Readonly<Record<string, unknown>>;

/** Statements that are slow here take longer; few take so long because the machine is busy. */
const slowMs = 500;

const linesOf = (server: Platform): readonly Line[] =>
  server
    .log()
    .split('\n')
    .filter((line) => line.includes('"event":"slow-query"'))
    .map((line) => JSON.parse(line));

/** The one line of what is done. */
async function lineOf(server: Platform, cause: () => Promise<unknown>): Promise<Line> {
  const before = linesOf(server).length;
  await cause();
  await expect.poll(() => linesOf(server).length, { timeout: 30_000 }).toBe(before + 1);
  return linesOf(server)[before] ?? {};
}

async function withServer(
  folder: string,
  url: string,
  environment: Readonly<Record<string, string>>,
  use: (server: Platform) => Promise<void>,
  args: readonly string[] = [],
): Promise<void> {
  const server = await startUnchecked(
    folder,
    url,
    { LOG_LEVEL: 'info', SLOW_QUERY: `${slowMs}`, ...environment },
    args,
  );
  try {
    await use(server);
  } finally {
    await server.stop();
  }
  expect(server.log()).not.toContain(secret);
}

/** Ends the transaction of a client when another session has waited for it for so long. */
async function letWait(client: Client, ms = 900): Promise<void> {
  const sql = 'SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))';
  await expect.poll(async () => (await client.query(sql)).rowCount).toBeGreaterThan(0);
  await sleep(ms);
  await client.query('ROLLBACK');
}

/** True if a transaction waits for a lock. InnoDB renews this table only where it was not read for 0.1 s. */
async function mysqlWaits(connection: Connection): Promise<boolean> {
  const sql = "SELECT trx_id FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";
  return (await connection.query<RowDataPacket[]>(sql))[0].length > 0;
}

describe('on PostgreSQL', () => {
  let database: TestDatabase;
  let project: Awaited<ReturnType<typeof createProject>>;
  beforeAll(async () => {
    database = await createDatabase('');
    await installSystem(database.url);
    await withClient(database.url, (client) => client.query(sql));
    project = await createProject();
    await writeFile(join(project.folder, 'permissions.yaml'), rules(`, waits: ${full}`));
    await generateHosted(project.folder, database.url);
  });
  afterAll(async () => {
    await project?.remove();
    await database?.drop();
  });
  const withServe = (environment: Readonly<Record<string, string>>, use: (server: Platform) => Promise<void>) =>
    withServer(project.folder, database.url, environment, use);

  it.each(['fast', 'pg'])('a read is told with its plan, and without a value, by the driver %s', async (driver) => {
    await withServe({ DATABASE_DRIVER: driver }, async (server) => {
      const path = `/items/slow?filter[title][_neq]=${secret}&limit=7`;
      let id: string | null = null;
      const line = await lineOf(server, async () => {
        id = (await server.ask(path)).headers.get('x-request-id');
      });
      expect(line).toEqual({
        ...{ level: 30, time: expect.any(Number), event: 'slow-query', msg: 'A statement was slow.', requestId: id },
        ...{ class: 'public', ms: expect.any(Number), waitMs: expect.any(Number), rows: 2 },
        types: ['text', 'int8'],
        statement: expect.stringMatching(/^SELECT .* FROM "public"."slow" .*\$1::/),
        plan: expect.stringMatching(/Scan.* on docs .*\n.*Filter: .*\$1/s),
      });
      // The statement itself, which sleeps for 1,200 ms, is no part of the wait for a connection.
      expect(Number(line.ms) - Number(line.waitMs)).toBeGreaterThan(1_190);
      // The next plan waits for its turn.
      expect(await lineOf(server, () => server.ask('/items/slow/1'))).not.toHaveProperty('plan');
      await server.ask('/items/docs/1');
      expect(linesOf(server)).toHaveLength(2);
    });
  });

  it('streams, documents, reads by key and writes that wait for a lock are told', async () => {
    await withServe({ ACCESS_LOG: 'off' }, async (server) => {
      const streamed = await lineOf(server, () => server.ask('/items/slow?limit=-1'));
      expect(streamed).toMatchObject({ rows: 2, class: 'public', requestId: expect.any(String) });
      const query = `{ slow(filter: { title: { _neq: "${secret}" } }) { id } }`;
      const asked = await lineOf(server, () => server.ask('/graphql', { method: 'POST', body: { query } }));
      expect(asked).toMatchObject({ rows: 2, statement: expect.stringContaining('"slow"') });
      expect(await lineOf(server, () => server.ask('/items/slow/1'))).toMatchObject({ rows: 1, types: ['int4'] });
      await withClient(database.url, async (client) => {
        await client.query('BEGIN; SELECT FROM docs WHERE id = 7 FOR UPDATE');
        const line = await lineOf(server, async () => {
          const change = { method: 'PATCH', body: { title: secret } };
          const changed = server.ask('/items/docs/7', change);
          await letWait(client);
          expect((await changed).status).toBe(200);
        });
        expect(line).toMatchObject({ statement: expect.stringMatching(/"public"."docs"/), rows: 1 });
        expect(line).toMatchObject({ class: 'public', requestId: expect.any(String) });
        expect(line).not.toHaveProperty('error');
      });
      expect(server.log()).not.toContain('"A request was answered."');
    });
  });

  it('a write has a plan, and what the database ends has a code', async () => {
    await withServe({ DATABASE_STATEMENT_TIMEOUT: '800ms', LOG_ADDRESSES: 'full' }, async (server) => {
      await withClient(database.url, async (client) => {
        await client.query('BEGIN; SELECT FROM docs WHERE id IN (8, 9) FOR UPDATE');
        const body = { keys: [8, 9], data: { title: secret } };
        const line = await lineOf(server, () => server.ask('/items/docs', { method: 'PATCH', body }));
        expect(line).toMatchObject({ error: '57014', rows: 0, plan: expect.stringContaining('on docs') });
        await client.query('ROLLBACK');
      });
    });
  });

  it('the wait for a connection is told apart, and is no reason for a plan', async () => {
    const pool = { DATABASE_POOL_MAX: '3', DATABASE_POOL_TIMEOUT: '5s' };
    await withServe(pool, async (server) => {
      await withClient(database.url, async (client) => {
        await client.query('BEGIN; LOCK TABLE docs IN EXCLUSIVE MODE');
        const write = (id: number) => server.ask('/items/docs', { method: 'POST', body: [{ id }, { id: id + 1 }] });
        const writes = [1000, 1010, 1020, 1030, 1040, 1050].map(write);
        await letWait(client, 1_500);
        for (const { status } of await Promise.all(writes)) expect(status).toBe(200);
      });
      await expect.poll(() => linesOf(server).length, { timeout: 30_000 }).toBeGreaterThanOrEqual(6);
      const waits = linesOf(server).map(({ ms, waitMs }) => [Number(waitMs), Number(ms)] as const);
      expect(waits.some(([waitMs, ms]) => waitMs > 600 && ms >= waitMs)).toBe(true);
      expect(waits.some(([waitMs, ms]) => ms - waitMs > 900)).toBe(true);
      const planned = linesOf(server).filter(({ plan }) => plan !== undefined);
      expect(planned.length).toBeLessThan(2);
      for (const { ms, waitMs } of planned) expect(Number(ms) - Number(waitMs)).toBeGreaterThan(slowMs);
    });
  });

  it('a statement that got no connection has waited for it all the time', async () => {
    const relay = await startRelay(database.url);
    await withServer(project.folder, relay.url, {}, async (server) => {
      expect((await server.ask('/items/docs/1')).status).toBe(200);
      await relay.close();
      // A statement that is sent before the server hears of the end has not waited, but is lost.
      await sleep(500);
      const line = await lineOf(server, () => server.ask('/items/docs?limit=1'));
      expect(line).toMatchObject({ error: 'connection', waitMs: line.ms });
      expect(line).not.toHaveProperty('plan');
    });
  });

  it('statements of a sign-in are told', async () => {
    await withServe({}, async (server) => {
      await withClient(database.url, async (client) => {
        await client.query('BEGIN; LOCK TABLE platform.platform_users IN ACCESS EXCLUSIVE MODE');
        const body = { email: administrator.email, password: administrator.password };
        const signedIn = server.ask('/auth/login', { method: 'POST', body });
        await letWait(client);
        expect((await signedIn).status).toBe(200);
      });
      await expect.poll(() => linesOf(server).length).toBeGreaterThan(0);
      expect(linesOf(server)[0]).toMatchObject({ requestId: expect.any(String), types: ['text'] });
      expect(server.log()).not.toContain(administrator.email);
      expect(server.log()).not.toContain(administrator.password);
    });
  });

  it('a change of the model is told without what it says', async () => {
    await withServe({}, async (server) => {
      await withClient(database.url, async (client) => {
        await client.query('BEGIN; LOCK TABLE docs IN ACCESS EXCLUSIVE MODE');
        const body = { field: 'colour', type: 'string', schema: { default_value: secret }, meta: { note: secret } };
        const changed = server.admin('/fields/docs', { method: 'POST', body });
        await letWait(client);
        expect((await changed).status).toBe(200);
      });
      await expect.poll(() => linesOf(server).map(({ statement }) => statement)).toContain('ALTER');
      for (const line of linesOf(server)) if (line.statement === 'ALTER') expect(line).not.toHaveProperty('plan');
    });
  });

  it('0 tells none, and a slow request without a slow statement has its line alone', async () => {
    let silent: Platform | undefined;
    await withServe({ SLOW_QUERY: '0' }, async (server) => {
      silent = server;
      await server.ask('/items/slow');
    });
    // A server that has stopped has written all its lines.
    expect(silent?.log()).not.toMatch(/slow-query|A request was answered/);
    await withServe({ SLOW_QUERY: '1500' }, async (server) => {
      // Four statements of 600 ms each, one after the other.
      const fields = [1, 2, 3, 4].map((id) => `a${id}: create_waits_item(data: { id: ${id} }) { id }`);
      const query = `mutation { ${fields.join(' ')} }`;
      const answer = await server.ask('/graphql', { method: 'POST', body: { query } });
      expect(answer.json.errors).toBeUndefined();
      await expect.poll(() => server.log()).toContain('"A request was answered."');
      expect(linesOf(server)).toEqual([]);
    });
  });

  it('what the server does for itself is not told, however slow', async () => {
    await withServe({ SLOW_QUERY: '1' }, async (server) => {
      await server.ask('/items/slow');
      // The next look is two seconds after the first.
      await sleep(2_500);
      const causes = linesOf(server).map(({ requestId }) => typeof requestId);
      expect(new Set(causes)).toEqual(new Set(['string']));
    });
  });

  it('lines that wait for a plan are written when the server stops', async () => {
    await withServe({}, async (server) => {
      await server.ask('/items/slow');
      await server.stop();
      expect(linesOf(server)).toHaveLength(1);
    });
  });
});

describe('on the sample', () => {
  /** Makes reads of a view slow. */
  const slowStats = `
    CREATE FUNCTION wait(id integer) RETURNS boolean LANGUAGE sql VOLATILE AS 'SELECT pg_catalog.pg_sleep(0.3) IS NOT NULL';
    DROP MATERIALIZED VIEW article_stats;
    CREATE VIEW article_stats AS SELECT id AS article_id, 1 AS comment_count, 1 AS tag_count, now() AS last_comment_at
      FROM articles WHERE id < 3 AND wait(id::integer);`;

  it('real and embedded, the same is told', async () => {
    const told: Line[] = [];
    for (const isEmbedded of [false, true]) {
      const project = await createProject('fixtures/magazine');
      const database = isEmbedded ? null : await createMagazineDatabase();
      try {
        if (database !== null) await withClient(database.url, (client) => client.query(slowStats));
        else await makeEmbedded(project.folder, slowStats);
        await withServer(
          project.folder,
          database?.url ?? '',
          {},
          async (server) => {
            const path = '/items/article_stats?filter[tag_count][_neq]=7151928';
            told.push(await lineOf(server, () => server.admin(path)));
            expect(server.log()).not.toContain('7151928');
          },
          ['--generate'],
        );
      } finally {
        await database?.drop();
        await project.remove();
      }
    }
    const [real, embedded] = told.map(({ statement, rows, types, class: name }) => ({ statement, rows, types, name }));
    expect(embedded).toEqual(real);
    expect(real).toMatchObject({ rows: 2, name: 'admin', statement: expect.stringContaining('"article_stats"') });
    expect(told[0]?.plan).toEqual(expect.stringContaining('on articles'));
    // Its one connection is that of the requests.
    expect(told[1]).not.toHaveProperty('plan');
  });

  async function makeEmbedded(folder: string, more: string): Promise<void> {
    const dataDir = join(folder, '.platform', 'database');
    const database = await createEmbedded(dataDir);
    await database.exec(await readFile(join(folder, 'database.postgres.sql'), 'utf8'));
    for (const statement of dataSql(1)) await database.exec(statement);
    await database.exec(more);
    await database.close();
  }
});

describe.each(servers)('on $name', ({ missing, start }) => {
  if (missing) return void it.skip('is not there');

  it('reads and writes are told, of their plan only tables, ways, keys and rows', async () => {
    const host = await start();
    const url = await createMysqlDatabase(
      host,
      // MariaDB puts a reserved word between quotation marks in its plan, too.
      `CREATE TABLE docs (id int PRIMARY KEY, title varchar(50), \`order\` int, KEY by_order (\`order\`));
       INSERT INTO docs VALUES (1, 'One', 1), (2, 'Two', 2), (3, 'Three', 3);
       CREATE VIEW slow AS SELECT id, title, SLEEP(0.3) AS waited FROM docs WHERE \`order\` IN (1, 2);`,
    );
    const project = await createProject();
    await writeFile(join(project.folder, 'permissions.yaml'), rules());
    await generateHosted(project.folder, url);
    try {
      await withServer(project.folder, url, {}, async (server) => {
        const path = `/items/slow?filter[title][_neq]=${secret}&limit=7`;
        const read = await lineOf(server, () => server.ask(path));
        expect(read).toMatchObject({ rows: 2, class: 'public', statement: expect.stringContaining('?') });
        expect(read.types).toEqual(['text', 'integer']);
        expect(read.plan).toContainEqual(expect.objectContaining({ key: 'by_order', rows: expect.any(Number) }));
        const members = new Set((read.plan as readonly object[]).flatMap((table) => Object.keys(table)));
        expect([...members].toSorted()).toEqual(['access', 'key', 'rows', 'table']);
        expect(await lineOf(server, () => server.ask('/items/slow?limit=-1'))).toMatchObject({ rows: 2 });
        await withMysql(url, async (connection) => {
          await connection.query('START TRANSACTION');
          await connection.query('SELECT * FROM docs WHERE id = 3 FOR UPDATE');
          const before = linesOf(server).length;
          const changed = server.ask('/items/docs/3', { method: 'PATCH', body: { title: secret } });
          await expect.poll(() => mysqlWaits(connection), { interval: 200 }).toBe(true);
          await sleep(700);
          await connection.query('ROLLBACK');
          expect((await changed).status).toBe(200);
          // On a busy machine another statement of the request may be slow as well.
          await expect.poll(() => linesOf(server).length, { timeout: 30_000 }).toBeGreaterThan(before);
          expect(linesOf(server)[before]).toMatchObject({ class: 'public', requestId: expect.any(String) });
        });
      });
    } finally {
      await project.remove();
      await host.stop();
    }
  });
});
