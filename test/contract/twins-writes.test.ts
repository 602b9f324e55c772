/** The same writes on PostgreSQL and on MariaDB: they answer the same bytes, and leave the same rows. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startOneLane } from '../support/lanes.ts';
import { createMysqlDatabase, type MysqlServer, withMysql } from '../support/mariadb.ts';
import { type Answer, createProject, type Platform } from '../support/platform.ts';
import { type CountingProxy, countStatements } from '../support/proxy.ts';
import { servers } from '../support/servers.ts';
import { counted, refused, type Step, visitors, written } from './twins-writes/steps.ts';

const collections: readonly (readonly [name: string, key: string])[] = [
  ['countries', 'code'],
  ['authors', 'id'],
  ['articles', 'id'],
  ['tags', 'id'],
  ['articles_tags', 'article_id,tag_id'],
  ['comments', 'id'],
  ['notes', 'id'],
  ['headings', 'id'],
  ['pictures', 'id'],
  ['sections', 'id'],
  ['categories', 'id'],
  ['reviews', 'reviewer,article_id'],
  ['hens', 'id'],
  ['eggs', 'id'],
  ['kinds', 'id'],
  ['prints', 'code'],
  ['print_notes', 'id'],
  ['seats', 'number'],
  ['numbered', 'id'],
];

describe.each(servers)('PostgreSQL and $name', ({ missing, start, exact, uuid, json }) => {
  if (missing) return void it.skip('is not there');

  let server: MysqlServer;
  let database: TestDatabase;
  let sent: CountingProxy;
  let url: string;
  const projects: Awaited<ReturnType<typeof createProject>>[] = [];
  const twins: Platform[] = [];

  beforeAll(async () => {
    server = await start();
    const [postgres = '', mariadb = ''] = await Promise.all(['postgres', 'mariadb'].map(sqlOf));
    // MySQL has no type for identifiers.
    const typed = (sql: string) => (uuid === 'uuid' ? sql : sql.replaceAll(' uuid', ' varchar(36)'));
    database = await createDatabase(typed(postgres).replaceAll(' json', ` ${json}`));
    sent = await countStatements(database.url);
    url = await createMysqlDatabase(server, typed(mariadb), exact);
    for (const one of [sent.url, url]) {
      const project = await createProject('test/contract/twins-writes');
      projects.push(project);
      twins.push(await startOneLane({ folder: project.folder, databaseUrl: one }));
    }
  }, 120_000);
  afterAll(async () => {
    await Promise.all(twins.map((twin) => twin.stop()));
    // Other files use the server, too.
    await withMysql(url, (connection) => connection.query('SET GLOBAL general_log = 0'));
    await sent?.close();
    await Promise.all([server?.stop(), database?.drop(), ...projects.map((project) => project.remove())]);
  });

  async function onBoth(ask: (twin: Platform) => Promise<Answer>): Promise<readonly (readonly [number, string])[]> {
    const answers = await Promise.all(twins.map(ask));
    return answers.map(({ status, text }) => [status, text] as const);
  }

  /** What is stored, of one collection or of all. */
  async function compareRows(only?: string): Promise<void> {
    for (const [name, sort] of collections) {
      if (only !== undefined && name !== only) continue;
      const [postgres, mariadb] = await onBoth((twin) => twin.admin(`/items/${name}?limit=-1&sort=${sort}`));
      expect([name, mariadb]).toEqual([name, postgres]);
    }
  }

  async function compare([method, path, body, headers = {}]: Step, as: 'admin' | 'ask'): Promise<number> {
    const options = { method, headers, ...(body !== undefined && { body }) };
    const [postgres, mariadb] = await onBoth((twin) => twin[as](path, options));
    expect(mariadb).toEqual(postgres);
    return postgres?.[0] ?? 0;
  }

  const named = (steps: readonly Step[]) =>
    steps.map((step) => [`${step[0]} ${step[1]} ${JSON.stringify(step[2] ?? null)}`, step] as const);

  describe.each(Object.entries(written))('%s', (_, steps) => {
    it.each(named(steps))('%s', async (_name, step) => {
      expect(await compare(step, 'admin')).toBeLessThan(300);
    });

    it('leaves the same rows', () => compareRows());
  });

  describe('what is refused', () => {
    it.each(named(refused))('%s', async (_name, step) => {
      const status = await compare(step, 'admin');
      expect([400, 403, 422]).toContain(status);
    });

    it('leaves the same rows', () => compareRows());
  });

  describe('what visitors write', () => {
    it.each(named(visitors))('%s', async (_name, step) => {
      expect(await compare(step, 'ask')).toBeLessThan(500);
    });

    it('leaves the same rows', () => compareRows());
  });

  it('writes what GraphQL asks for', async () => {
    const query = `mutation { create_authors_item(data: { id: 300, name: "Graph", country: { code: "de" } }) { id name country { name } }
      update_articles_items(ids: [1, 2], data: { rating: "2.50" }) { id rating }
      delete_headings_item(id: 1) { id } }`;
    const ask = (twin: Platform) => twin.admin('/graphql', { method: 'POST', body: { query } });
    const [postgres, mariadb] = await onBoth(ask);
    expect(mariadb).toEqual(postgres);
    expect(postgres?.[1]).not.toContain('errors');
    await compareRows();
  });

  /** Statements of MariaDB so far, but for those that look whether the database is still the one that was compiled. */
  async function asked(): Promise<number> {
    const rows = await withMysql(url, async (connection) => {
      await connection.query("SET GLOBAL log_output = 'TABLE', GLOBAL general_log = 1");
      return connection.query(`SELECT COUNT(*) AS n FROM mysql.general_log WHERE command_type IN ('Query', 'Execute')
        AND CONVERT(argument USING utf8mb4) NOT LIKE '%information_schema%'`);
    });
    return Number(JSON.stringify(rows[0]).match(/\d+/)?.[0]);
  }

  /** How many statements a write takes on each server, BEGIN, COMMIT and the answer included. */
  async function count(step: Step): Promise<readonly [postgres: number, mariadb: number]> {
    const idle = (await asked()) - (await asked());
    sent.reset();
    const before = await asked();
    await compare(step, 'admin');
    return [sent.executed(), (await asked()) - before + idle];
  }

  it.each(counted)('%s takes no more than half as many statements again', async (_, step, most) => {
    const [postgres, mariadb] = await count(step);
    expect([mariadb <= 1.5 * postgres, mariadb <= most, postgres > 2, mariadb]).toEqual([true, true, true, mariadb]);
  });

  it('gives new items random identifiers, whoever makes them, in as many statements as for one', async () => {
    const random = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    const own = '00000000-0000-4000-8000-0000000000aa';
    const [, mariadb] = twins;
    const items = [{ name: 'a' }, { name: 'b', id: own }, { name: 'c', mark: own, stamps: [{ name: 'd' }] }];
    const made = await mariadb?.admin('/items/stamps?fields=*', { method: 'POST', body: items });
    const stored = await mariadb?.admin('/items/stamps?fields=*&sort=name');
    const rows = stored?.json.data as Record<string, string>[];
    expect(made?.json.data).toEqual(rows.slice(0, 3));
    expect([rows[1]?.id, rows[2]?.mark, rows[3]?.parent_id]).toEqual([own, own, rows[2]?.id]);
    const drawn = [rows[0]?.id, rows[0]?.mark, rows[1]?.mark, rows[2]?.id, rows[3]?.id, rows[3]?.mark];
    expect(drawn.filter((id) => !random.test(id ?? ''))).toEqual([]);
    expect(new Set(drawn).size).toBe(drawn.length);
    const visited = await mariadb?.ask('/items/stamps', { method: 'POST', body: { name: 'e' } });
    expect([visited?.status, visited?.json.data.id]).toEqual([200, expect.stringMatching(random)]);
    const before = await asked();
    const many = Array.from({ length: 200 }, (_, n) => ({ name: `n${n}` }));
    expect((await mariadb?.admin('/items/stamps?fields=id', { method: 'POST', body: many }))?.status).toBe(200);
    expect((await asked()) - before).toBeLessThan(8);
  });

  it('runs requests again that meet in the middle', async () => {
    const [, mariadb] = twins;
    const change = (ids: readonly number[]) =>
      mariadb?.admin('/items/articles', { method: 'PATCH', body: ids.map((id) => ({ id, title: `met ${id}` })) });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, turn) => change(turn % 2 === 0 ? [1, 2, 3] : [3, 2, 1])),
    );
    expect(answers.map((answer) => answer?.status)).toEqual(answers.map(() => 200));
  });
});

async function sqlOf(name: string): Promise<string> {
  return readFile(fileURLToPath(new URL(`./twins-writes/${name}.sql`, import.meta.url)), 'utf8');
}
