/** The doctor tells of a search that reads every row of a large table, and of the index that it lacks. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { createProject, runPlatform } from '../support/platform.ts';

const tables = ['plain', 'worded', 'expressed', 'small'] as const;

let database: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
beforeAll(async () => {
  const rows = (name: string, count: number) =>
    `INSERT INTO ${name} SELECT i, 'x', 'y' FROM generate_series(1, ${count}) i;`;
  database = await createDatabase(`
    ${tables.map((name) => `CREATE TABLE ${name} (id int PRIMARY KEY, "Title" text, body text);`).join(' ')}
    ALTER TABLE worded ADD COLUMN words tsvector GENERATED ALWAYS AS (to_tsvector('simple', coalesce("Title", ''))) STORED;
    ${['plain', 'worded', 'expressed'].map((name) => rows(name, 60_000).replace(` ${name} SELECT`, ` ${name} (id, "Title", body) SELECT`)).join(' ')}
    ${rows('small', 10)} ANALYZE;`);
  project = await createProject();
  const config = `export default { collections: { worded: { search: { mode: 'text', column: 'words' } },
    expressed: { search: { mode: 'text', fields: ['Title', 'body'] } } } };\n`;
  await writeFile(join(project.folder, 'platform.config.ts'), config);
});
afterAll(() => Promise.all([database?.drop(), project?.remove()]));

async function advised(): Promise<readonly string[]> {
  const { stdout } = await runPlatform(['doctor', '--json', '--project', project.folder], {
    DATABASE_URL: database.url,
  });
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return events.flatMap(({ check, advice }) => (check === 'search-unindexed' ? [String(advice)] : []));
}

test('advises an index of each kind, which it then finds', async () => {
  const found = await advised();
  expect(found).toHaveLength(3);
  for (const sql of found) await withClient(database.url, (client) => client.query(sql));
  expect(await advised()).toEqual([]);
});
