/** What `platform doctor` finds, in one database that has a bit of everything. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { runWarm } from '../support/warm-command.ts';

// Several starts of the command each.
vi.setConfig({ testTimeout: 60_000 });

let folder: string;
let database: TestDatabase;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-doctor-'));
  database = await createDatabase(`
    CREATE TABLE authors (id int PRIMARY KEY, name text);
    CREATE TABLE books (id int PRIMARY KEY, author_id int REFERENCES authors, state text, year int);
    CREATE TABLE loans (book_id int REFERENCES books, since date);
    CREATE INDEX ON loans (book_id);
    CREATE TABLE "Old Loans" (id int PRIMARY KEY, "the book" int REFERENCES books);
  `);
  const rules = 'permissions: { public: { books: { read: { fields: [id], filter: { state: free } } } } }\n';
  await writeFile(join(folder, 'permissions.yaml'), rules);
});
afterAll(() => Promise.all([database?.drop(), rm(folder, { recursive: true, force: true })]));

interface Found {
  readonly code: number;
  readonly found: readonly string[];
  /** Statements that make indexes. */
  readonly advised: readonly string[];
}

async function findings(url: string): Promise<Found> {
  const { code, stdout } = await runWarm(['doctor', '--json', '--project', folder], { DATABASE_URL: url });
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const found = events.filter(({ event }) => event === 'finding');
  for (const { message, advice } of found) expect([message, advice].every((text) => text.length > 10)).toBe(true);
  const advised = found.map(({ advice }) => String(advice)).filter((advice) => advice.startsWith('CREATE INDEX'));
  return { code, advised, found: found.map(({ check, severity, message }) => `${severity} ${check}: ${message}`) };
}

it('names missing keys and indexes, and a role that may too much', async () => {
  const { code, found, advised } = await findings(database.url);
  expect(found).toEqual([
    'note no-schema-file: There is no platform.schema.json, so nothing can be compiled or compared without the database.',
    'warning superuser: The role of DATABASE_URL may do everything in the database, and row-level security does not bind it.',
    'warning missing-index: No index of public.Old Loans begins with (the book), which refers to public.books.',
    'warning missing-index: No index of public.books begins with (author_id), which refers to public.authors.',
    'note rule-index: A rule for "books" asks for state, with which no index of public.books begins.',
    'warning no-key: "loans" has no key: it can only be listed.',
  ]);
  expect(code).toBe(0);
  // What is advised can be run as it is.
  for (const sql of advised) await withClient(database.url, (client) => client.query(sql));
  const { found: left } = await findings(database.url);
  expect(left.filter((text) => text.includes('index'))).toEqual([
    'note rule-index: A rule for "books" asks for state, with which no index of public.books begins.',
  ]);
});

it('names tables of whose rows the database knows nothing, as partitioned and restored ones', async () => {
  const own = await createDatabase(`
    CREATE TABLE events (id int PRIMARY KEY, note text) PARTITION BY RANGE (id);
    CREATE TABLE events_low PARTITION OF events FOR VALUES FROM (0) TO (100000);
    INSERT INTO events SELECT i, repeat('x', 100) FROM generate_series(1, 20000) AS i;
    CREATE TABLE "Restored" AS SELECT * FROM events; ALTER TABLE "Restored" ADD PRIMARY KEY (id);
    CREATE TABLE small (id int PRIMARY KEY);
    ANALYZE events_low;
  `);
  try {
    const unknown = async (): Promise<readonly string[]> =>
      (await findings(own.url)).found.filter((text) => text.includes('statistics-missing'));
    expect(await unknown()).toEqual(
      ['public.Restored', 'public.events'].map(
        (id) =>
          `warning statistics-missing: The database knows nothing of the rows of ${id}, so its plans may be slow.`,
      ),
    );
    await withClient(own.url, (client) => client.query('ANALYZE "Restored"; ANALYZE events'));
    expect(await unknown()).toEqual([]);
  } finally {
    await own.drop();
  }
});

it('names what the role may not read, also in schemas that it may not enter', async () => {
  const role = `doctor_${database.name}`;
  await withClient(database.url, (client) =>
    client.query(`CREATE SCHEMA shut; CREATE TABLE shut."Safe" (id int PRIMARY KEY); CREATE ROLE ${role} LOGIN PASSWORD 'x';
      GRANT SELECT ON authors, loans, "Old Loans" TO ${role}; GRANT SELECT (id, state) ON books TO ${role}`),
  );
  const url = new URL(database.url);
  Object.assign(url, { username: role, password: 'x' });
  const { stdout, code } = await runWarm(['doctor', '--json', '--project', folder], { DATABASE_URL: url.href });
  const lines = stdout.split('\n').filter((line) => line.includes('"no-right"'));
  expect(lines.map((line) => JSON.parse(line)).map(({ message, advice }) => [message, advice])).toEqual([
    [
      'The role of DATABASE_URL may not read the columns author_id, year of public.books.',
      'GRANT SELECT (author_id, year) ON "public"."books" to it, or leave that out of the configuration.',
    ],
    [
      'The role of DATABASE_URL may not read shut.Safe.',
      'GRANT USAGE ON SCHEMA "shut" and GRANT SELECT ON "shut"."Safe" to it, or leave that out of the configuration.',
    ],
  ]);
  expect(code).toBe(1);
  await withClient(database.url, (client) =>
    client.query(`DROP SCHEMA shut CASCADE; DROP OWNED BY ${role}; DROP ROLE ${role}`),
  );
});

it('names rights to write that rules count on, and the sequences of new rows', async () => {
  const own = await createDatabase(
    'CREATE TABLE notes (id serial PRIMARY KEY, body text); CREATE TABLE pages (id int PRIMARY KEY)',
  );
  const at = await mkdtemp(join(tmpdir(), 'platform-doctor-'));
  const role = `writer_${own.name}`;
  const url = Object.assign(new URL(own.url), { username: role, password: 'x' }).href;
  const allowed = '{ create: true, read: true, update: true, delete: true }';
  await writeFile(
    join(at, 'permissions.yaml'),
    `permissions: { public: { notes: ${allowed}, pages: { read: true } } }\n`,
  );
  const lacking = async (grants: string): Promise<readonly string[]> => {
    await withClient(own.url, (client) => client.query(grants));
    const { stdout } = await runWarm(['doctor', '--json', '--project', at], { DATABASE_URL: url });
    const lines = stdout.split('\n').filter((line) => line.includes('"no-right"'));
    return lines.map((line) => JSON.parse(line).advice.split(' to it')[0]).toSorted();
  };
  const reader = `CREATE ROLE ${role} LOGIN PASSWORD 'x'; GRANT SELECT ON notes, pages TO ${role}`;
  expect(await lacking(reader)).toEqual([
    'GRANT DELETE, INSERT, UPDATE ON public.notes',
    'GRANT USAGE ON SEQUENCE public.notes_id_seq',
  ]);
  expect(await lacking(`GRANT INSERT (body), UPDATE, DELETE ON notes TO ${role}`)).toEqual([
    'GRANT USAGE ON SEQUENCE public.notes_id_seq',
  ]);
  expect(await lacking(`GRANT UPDATE ON SEQUENCE notes_id_seq TO ${role}`)).toEqual([]);
  // DELETE of an item that is archived changes it.
  const archived = "collections: { notes: { softDelete: { field: 'body', value: 'gone' } } }";
  await writeFile(join(at, 'platform.config.ts'), `export default { ${archived} };\n`);
  expect(await lacking(`REVOKE DELETE ON notes FROM ${role}`)).toEqual([]);
  await withClient(own.url, (client) => client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`));
  await Promise.all([own.drop(), rm(at, { recursive: true })]);
});

it('asks git whether the folder of secrets is ignored, wherever the repository begins', async () => {
  const repository = await mkdtemp(join(tmpdir(), 'platform-doctor-'));
  const inside = join(repository, 'packages', 'shop');
  await mkdir(join(inside, '.platform'), { recursive: true });
  execFileSync('git', ['init', '--quiet', repository]);
  const checks = async (): Promise<readonly string[]> => {
    const { stdout } = await runWarm(['doctor', '--json', '--project', inside], { DATABASE_URL: database.url });
    return ['state-not-ignored', 'secret-in-configuration'].filter((check) => stdout.includes(check));
  };
  expect(await checks()).toEqual(['state-not-ignored']);
  await writeFile(join(repository, '.gitignore'), '**/.platform/*\n');
  const config = (url: string): string => `export default { database: { url: process.env.DATABASE_URL ?? ${url} } };\n`;
  await writeFile(join(inside, 'platform.config.mjs'), config('"postgres://shop:pass@db.example/shop"'));
  expect(await checks()).toEqual(['secret-in-configuration']);
  await writeFile(
    join(inside, 'platform.config.mjs'),
    config('`postgres://shop:$' + '{process.env.PASS}@db.example/shop`'),
  );
  expect(await checks()).toEqual([]);
  await rm(repository, { recursive: true });
});

it('names secrets, and a database that is out of reach', async () => {
  const config = "export default { database: { url: 'postgres://somebody:secret@db.example/shop' } };\n";
  await writeFile(join(folder, 'platform.config.mjs'), config);
  await mkdir(join(folder, '.git'));
  await mkdir(join(folder, '.platform'), { recursive: true });
  const { code, found } = await findings('postgres://nobody@127.0.0.1:1/nowhere');
  expect(found.map((text) => text.split(':')[0])).toEqual([
    'problem secret-in-configuration',
    'problem state-not-ignored',
    'note no-schema-file',
    'problem database',
  ]);
  expect(code).toBe(1);
});

it('names each mistake in the files, and hides nothing else behind it', async () => {
  const good = await readFile(join(folder, 'permissions.yaml'), 'utf8');
  await writeFile(join(folder, 'permissions.yaml'), good.replace('[id]', '[id, gone]').replace('filter', 'where'));
  await writeFile(join(folder, 'platform.schema.json'), '<<<<<<< HEAD\n');
  const { code, found } = await findings(database.url);
  await writeFile(join(folder, 'permissions.yaml'), good);
  expect(found).toEqual(
    expect.arrayContaining([
      'problem schema-file: platform.schema.json: The file is not JSON.',
      expect.stringMatching(/^problem permissions-key: permissions\.yaml:1:\d+: The key "where" is unknown\.$/),
      expect.stringMatching(
        /^problem unknown-field: permissions\.yaml:1:\d+: The collection "books" has no field "gone"\.$/,
      ),
      expect.stringMatching(/^warning superuser: /),
      'warning no-key: "loans" has no key: it can only be listed.',
    ]),
  );
  expect(code).toBe(1);
});

it('tells what the files tell where there is no database', async () => {
  // What merging has left of the file is written anew.
  const { code, stderr } = await runWarm(['introspect', '--project', folder], { DATABASE_URL: database.url });
  expect(stderr).toContain('warning schema-file at platform.schema.json');
  expect(code).toBe(0);
  const generated = await runWarm(['generate', '--project', folder], { DATABASE_URL: database.url });
  expect(generated.code).toBe(0);
  await writeFile(join(folder, 'generated/fingerprint.js'), '<<<<<<< HEAD\n');
  const { found } = await findings('postgres://nobody@127.0.0.1:1/nowhere');
  expect(found).toContainEqual(expect.stringContaining('problem database: '));
  expect(found).toContainEqual(expect.stringMatching(/^problem drift: The generated code cannot be loaded: /));
  expect(found).toContain('warning no-key: "loans" has no key: it can only be listed.');
});
