/**
 * Databases and projects in which things lead back to themselves or nest deeply: every command ends with a plain message.
 * DEPTH=5000 makes the chains as long as in the whole proof.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { createMysqlDatabase, type MysqlServer } from '../support/mariadb.ts';
import { runPlatform, startUnchecked } from '../support/platform.ts';
import { servers } from '../support/servers.ts';

const depth = Number(process.env.DEPTH ?? '400');

const chain = (from: number, to: number, step: (at: number) => string): string =>
  Array.from({ length: to - from }, (_, index) => step(from + index)).join('');
const repeated = (text: string, times: number): string => text.repeat(times);

/** Parts of one database; each is sent by itself, because a long script is one parse. */
const parts: readonly string[] = [
  // Views that lead back to themselves: through columns, through expressions, in subqueries, alone, and what reads them.
  `CREATE TABLE books (id int PRIMARY KEY, title text);
   CREATE VIEW fine AS SELECT id, title FROM books;
   CREATE VIEW a AS SELECT 1 AS id; CREATE VIEW b AS SELECT id FROM a; CREATE OR REPLACE VIEW a AS SELECT id FROM b;
   CREATE VIEW over_a AS SELECT (SELECT max(id) FROM a) AS most, id FROM books;
   CREATE VIEW own AS SELECT 1 AS id; CREATE OR REPLACE VIEW own AS SELECT id + 1 AS id FROM own;`,
  // A materialized view in the circle: PostgreSQL reads what it holds.
  `CREATE VIEW shown AS SELECT 1 AS id; CREATE MATERIALIZED VIEW held AS SELECT id FROM shown;
   CREATE OR REPLACE VIEW shown AS SELECT id FROM held;`,
  `CREATE VIEW v0 AS SELECT id, title FROM books;
   ${chain(1, depth, (at) => `CREATE VIEW v${at} AS SELECT id, title FROM v${at - 1};`)}`,
  `CREATE MATERIALIZED VIEW m0 AS SELECT id, title FROM books;
   ${chain(1, depth, (at) => `CREATE MATERIALIZED VIEW m${at} AS SELECT id, title FROM m${at - 1};`)}`,
  `CREATE TYPE c0 AS (a int); ${chain(1, depth, (at) => `CREATE TYPE c${at} AS (a c${at - 1});`)}
   CREATE DOMAIN d0 AS int CHECK (VALUE > 0); ${chain(1, depth * 5, (at) => `CREATE DOMAIN d${at} AS d${at - 1};`)}
   CREATE DOMAIN l0 AS int; ${chain(1, depth * 5, (at) => `CREATE DOMAIN l${at} AS l${at - 1}[];`)}
   CREATE TABLE typed (id int PRIMARY KEY, c c${depth - 1}, d d${depth * 5 - 1}, l l${depth * 5 - 1});`,
  // Foreign keys in a circle, keys that are foreign keys, and tables that inherit from each other.
  `${chain(0, 60, (at) => `CREATE TABLE f${at} (id int PRIMARY KEY, next int);`)}
   ${chain(0, 60, (at) => `ALTER TABLE f${at} ADD FOREIGN KEY (next) REFERENCES f${(at + 1) % 60};`)}
   CREATE TABLE k0 (id int PRIMARY KEY); ${chain(1, 60, (at) => `CREATE TABLE k${at} (id int PRIMARY KEY REFERENCES k${at - 1});`)}
   CREATE TABLE x (id int PRIMARY KEY REFERENCES x); CREATE TABLE y (id int PRIMARY KEY);
   CREATE TABLE z (id int PRIMARY KEY REFERENCES y); ALTER TABLE y ADD FOREIGN KEY (id) REFERENCES z;
   CREATE TABLE i0 (id int PRIMARY KEY); ${chain(1, 60, (at) => `CREATE TABLE i${at} () INHERITS (i${at - 1});`)}
   CREATE TABLE p0 (id int PRIMARY KEY) PARTITION BY RANGE (id);
   ${chain(1, 60, (at) => `CREATE TABLE p${at} PARTITION OF p${at - 1} FOR VALUES FROM (0) TO (9) PARTITION BY RANGE (id);`)}`,
  // Expressions of many levels: of views, checks, defaults and generated columns.
  `CREATE VIEW sums AS SELECT ${Array(3_000).fill('id').join('+')} AS id, title FROM books;
   CREATE VIEW nested AS SELECT id FROM ${repeated('(SELECT id FROM ', 900)}books${chain(0, 900, (at) => `) AS s${at}`)};
   CREATE TABLE checked (id int PRIMARY KEY, a int CHECK (${repeated('(', 2_000)}a = 1${repeated(') = true', 2_000)}),
     b int CHECK (${Array(3_000).fill('b').join('+')} > 0), t text DEFAULT ${repeated('lower(', 900)}'a'${repeated(')', 900)},
     g int GENERATED ALWAYS AS (${Array(900).fill('b').join('+')}) STORED);
   COMMENT ON TABLE checked IS '${repeated('{[(', 10_000)}'`,
];

const commands: readonly (readonly string[])[] = [
  ['generate'],
  ['introspect'],
  ['check'],
  ['diff', 'work', 'database'],
  ['doctor'],
];

/** No command takes what it reads for a bug of its own. */
async function run(folder: string, url: string, ...args: readonly string[]) {
  const result = await runPlatform([...args, '--project', folder], { DATABASE_URL: url });
  expect([args, result.code, result.stderr]).not.toEqual([args, 70, result.stderr]);
  expect(result.stdout + result.stderr).not.toMatch(/call stack|nests too deeply|bug of the platform/);
  return result;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-recursion-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('PostgreSQL', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase('SELECT 1');
    await withClient(database.url, async (client) => {
      for (const sql of parts) await client.query(sql);
    });
  }, 120_000);
  afterAll(() => database?.drop());

  it('leaves out the views that lead back to themselves, and reads everything else', { timeout: 300_000 }, async () => {
    const generated = await run(folder, database.url, 'generate');
    expect([generated.code, generated.stderr]).toEqual([0, generated.stderr]);
    const left = [...generated.stderr.matchAll(/^warning view-circular at table public\.(\w+)/gm)].map(
      ([, name]) => name,
    );
    expect(left).toEqual(['a', 'b', 'over_a', 'own']);
    expect(generated.stderr).toContain('The view "a" leads back to itself or reads one that does.');
    expect(generated.stderr).toContain('More than 100 views stand on top of each other below "public.v101"');
    for (const args of commands.slice(1)) {
      const { code, stderr } = await run(folder, database.url, ...args);
      expect([args, code, stderr]).toEqual([args, 0, stderr]);
    }
  });

  it('serves them while they are developed', { timeout: 120_000 }, async () => {
    const server = await startUnchecked(folder, database.url, {}, ['--no-types'], 'dev');
    for (const name of ['fine', 'shown', 'held', 'v99', `m${depth - 1}`, 'sums', 'nested', 'typed', 'f0', 'y', 'i0']) {
      expect([name, (await server.admin(`/items/${name}?limit=1`)).status]).toEqual([name, 200]);
    }
    await server.stop();
  });

  it('refuses rules, documents and rows that nest deeply, and names them', { timeout: 120_000 }, async () => {
    const rules = (filter: string): string => `permissions: { public: { books: { read: { filter: ${filter} } } } }\n`;
    for (const [text, told] of [
      [rules(`${repeated('{ _and: [', 10_000)}{ id: 1 }${repeated('] }', 10_000)}`), /nest deeper than 64 levels/],
      [rules('&f { _and: [*f] }'), /nest deeper than 64 levels/],
      [rules(`{ _and: [${chain(0, 9_999, (at) => `{ id: { _neq: ${at} } },`)}] }`), null],
    ] as const) {
      await writeFile(join(folder, 'permissions.yaml'), text);
      const { code, stderr } = await run(folder, database.url, 'generate', '--check', '--offline');
      expect([told === null ? 1 : 2, stderr]).toEqual([code, stderr]);
      if (told !== null) expect(stderr).toMatch(told);
    }
    await rm(join(folder, 'permissions.yaml'));
  });
});

describe.each(servers)('$name', ({ missing, start }) => {
  if (missing) return void it.skip('is not there');
  let server: MysqlServer;
  let url: string;
  beforeAll(async () => {
    server = await start();
    // Names of views are looked up when they are read, so renaming one closes a circle.
    url = await createMysqlDatabase(
      server,
      `CREATE TABLE books (id int PRIMARY KEY, title varchar(9));
       CREATE TABLE a (id int); CREATE VIEW b AS SELECT id FROM a; CREATE VIEW c AS SELECT id FROM b; DROP TABLE a;
       RENAME TABLE c TO a; CREATE VIEW v0 AS SELECT id, title FROM books;
       ${chain(1, 60, (at) => `CREATE VIEW v${at} AS SELECT id, title FROM v${at - 1};`)}
       ${chain(0, 30, (at) => `CREATE TABLE f${at} (id int PRIMARY KEY, next int);`)}
       ${chain(0, 30, (at) => `ALTER TABLE f${at} ADD FOREIGN KEY (next) REFERENCES f${(at + 1) % 30} (id);`)}
       CREATE TABLE checked (id int PRIMARY KEY, a int, CHECK (${repeated('(', 300)}a = 1${repeated(') = 1', 300)}))`,
    );
  }, 120_000);
  afterAll(() => server?.stop());

  it('is read by every command', { timeout: 120_000 }, async () => {
    const own = await mkdtemp(join(folder, 'mysql-'));
    for (const args of commands) {
      const { code, stderr } = await run(own, url, ...args);
      expect([args, code, stderr]).toEqual([args, 0, stderr]);
      if (args[0] !== 'generate') continue;
      const left = [...stderr.matchAll(/^warning view-unreadable at table (\w+)/gm)].map(([, name]) => name);
      expect(left).toEqual(['a', 'b']);
    }
  });
});
