import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, loadDump, type TestDatabase, withClient } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase('CREATE TABLE note (id int PRIMARY KEY); INSERT INTO note VALUES (1), (2)');
});
afterAll(() => database.drop());

test('a database is made with its tables and rows', async () => {
  const { rows } = await withClient(database.url, (client) => client.query('SELECT count(*)::int AS n FROM note'));
  expect(rows).toEqual([{ n: 2 }]);
});

test.each(['btree_gin', 'citext', 'hstore', 'ltree', 'pg_trgm', 'pgcrypto'])('extension %s is there', async (name) => {
  await withClient(database.url, (client) => client.query(`CREATE EXTENSION ${name}`));
});

test('a dump with COPY blocks, psql commands and backslashes in the data is loaded', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'platform-dump-'));
  const path = join(directory, 'dump.sql');
  const dump = [
    '\\restrict token',
    'CREATE TABLE line (id int, body text);',
    'COPY line (id, body) FROM stdin;',
    '1\ta\\tb',
    '2\t\\N',
    '\\.',
    'CREATE INDEX ON line (id);',
    '\\unrestrict token',
  ];
  await writeFile(path, `${dump.join('\n')}\n`);
  await loadDump(database.url, path);
  const { rows } = await withClient(database.url, (client) => client.query('SELECT * FROM line ORDER BY id'));
  await rm(directory, { recursive: true });
  expect(rows).toEqual([
    { id: 1, body: 'a\tb' },
    { id: 2, body: null },
  ]);
});
