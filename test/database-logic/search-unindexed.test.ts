/** The doctor tells of a search that is slow on a large table, and of the cure: an index, a column of words, a leakproof operator. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { createProject, runPlatform } from '../support/platform.ts';

const tables = ['plain', 'worded', 'expressed', 'small'] as const;
/** Roles belong to the whole server. */
const reader = `reader_${randomBytes(4).toString('hex')}`;

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
  await configure(`expressed: { search: { mode: 'text', fields: ['Title', 'body'] } }`);
});
afterAll(async () => {
  await Promise.all([database?.drop(), project?.remove()]);
});

const configure = (expressed: string, more = ''): Promise<void> =>
  writeFile(
    join(project.folder, 'platform.config.ts'),
    `export default { ${more} collections: { worded: { search: { mode: 'text', column: 'words' } }, ${expressed} } };\n`,
  );

async function advised(check: string): Promise<readonly string[]> {
  const { stdout } = await runPlatform(['doctor', '--json', '--project', project.folder], {
    DATABASE_URL: database.url,
  });
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return events.flatMap((event) => (event.check === check ? [String(event.advice)] : []));
}

const run = (sql: string) => withClient(database.url, (client) => client.query(sql));

test('advises an index of each kind, which it then finds', async () => {
  expect(await advised('search-expression')).toEqual([]);
  const found = await advised('search-unindexed');
  expect(found).toHaveLength(3);
  for (const sql of found) await run(sql);
  expect(await advised('search-unindexed')).toEqual([]);
});

test('advises a column of words in place of an expression', async () => {
  const [advice = '', ...others] = await advised('search-expression');
  expect(others).toEqual([]);
  await run(advice.replace(/; and name .*$/, ';'));
  await configure(`expressed: { search: { mode: 'text', column: 'search' } }`);
  expect([await advised('search-expression'), await advised('search-unindexed')]).toEqual([[], []]);
});

test('tells of policies that keep a search from its index, and lets it use the index', async () => {
  await run(`CREATE ROLE ${reader}; GRANT SELECT ON plain, worded, expressed TO ${reader};
    ALTER TABLE plain ENABLE ROW LEVEL SECURITY; ALTER TABLE worded ENABLE ROW LEVEL SECURITY;
    CREATE POLICY most ON plain USING (id % 10 <> 3); CREATE POLICY most ON worded USING (id % 10 <> 3)`);
  expect(await advised('search-policies'), 'policies do not bind a superuser').toEqual([]);
  await configure(
    `expressed: { search: { mode: 'text', column: 'search' } }`,
    `database: { rowSecurity: { claims: 'request.jwt.claims', roles: { public: '${reader}' } } },`,
  );
  const plans = (): Promise<readonly string[]> =>
    withClient(database.url, async (client) => {
      await client.query(`BEGIN; SET LOCAL ROLE ${reader}; SET LOCAL enable_seqscan = off`);
      const plan = async (condition: string): Promise<string> =>
        JSON.stringify((await client.query(`EXPLAIN SELECT ${condition}`)).rows);
      const found = [
        await plan(`FROM worded WHERE words @@ websearch_to_tsquery('simple', 'none')`),
        await plan(`FROM plain WHERE body ILIKE '%none%'`),
      ];
      await client.query('ROLLBACK');
      return found;
    });
  const usesIndex = async (): Promise<readonly boolean[]> => (await plans()).map((plan) => plan.includes('Bitmap'));
  const found = await advised('search-policies');
  expect([found.length, await usesIndex()]).toEqual([2, [false, false]]);
  for (const advice of found) await run(advice.replace(/^As a superuser: /, ''));
  expect([await advised('search-policies'), await usesIndex()]).toEqual([[], [true, true]]);
  await run(`DROP OWNED BY ${reader}; DROP ROLE ${reader}`);
});
