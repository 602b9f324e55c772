/** `platform dev`: what changes is served without a restart, what is wrong is told, and what was served stays meanwhile. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { type CatalogStamps, changedRelations, readStamps } from '@tablewright/introspect';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTypeChecks, type TypeVerdict } from '../../packages/cli/src/dev/type-checks.ts';
import { runOn } from '../introspect/facts.ts';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { createProject, type Platform, spawnPlatform, startUnchecked } from '../support/platform.ts';

// Several builds each, some with a check of types beside them.
vi.setConfig({ testTimeout: 240_000 });

const tables = `CREATE TABLE authors (id integer PRIMARY KEY, name text NOT NULL);
  CREATE TABLE docs (id integer PRIMARY KEY, title text, author_id integer REFERENCES authors);
  INSERT INTO authors VALUES (1, 'Ann'); INSERT INTO docs VALUES (1, 'One', 1);`;

/** The compiler of types ends in the middle of such a file. */
const deep = `export const deep = ${'['.repeat(50_000)}${']'.repeat(50_000)};\n`;

let database: TestDatabase;
let project: { readonly folder: string; remove(): Promise<void> };
let server: Platform;
beforeAll(async () => {
  database = await createDatabase(tables);
  project = await createProject();
  await permit('id, titel');
  // The first build fails, which is mended when it is told; the text is all that was told.
  let isMended = false;
  server = await startUnchecked(project.folder, database.url, {}, ['--notify', '--no-types'], 'dev', (text) => {
    if (isMended || !text.includes('"event":"failed"')) return;
    isMended = true;
    void permit('id, title');
  });
});
afterAll(async () => {
  await server?.stop();
  await project?.remove();
  await database?.drop();
});

/** In one step, as editors do: a file that is written in place is empty for a moment, which is a project of its own. */
async function put(file: string, text: string): Promise<void> {
  const made = join(project.folder, 'changed.new');
  await writeFile(made, text);
  await rename(made, file);
}

function permit(fields: string): Promise<void> {
  const text = `permissions: { public: { docs: { read: { fields: [${fields}] } } } }\n`;
  return put(join(project.folder, 'permissions.yaml'), text);
}

function written(path: string): Promise<string> {
  return readFile(join(project.folder, 'generated', path), 'utf8');
}

interface Told {
  readonly event: string;
  readonly [name: string]: unknown;
}

function told(event: string): readonly Told[] {
  const lines = server
    .log()
    .split('\n')
    .filter((line) => line.startsWith(`{"event":"${event}"`));
  return lines.map((line): Told => JSON.parse(line));
}

/** Does something and waits for the next event of a kind. */
async function after(change: () => Promise<unknown>, event: 'rebuilt' | 'failed' | 'types'): Promise<Told> {
  const before = told(event).length;
  await change();
  for (let waited = 0; told(event).length === before && waited < 180_000; waited += 50) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const next = told(event)[before];
  if (next === undefined) throw new Error(`There was no event "${event}":\n${server.log()}`);
  return next;
}

const alter = (sql: string) => () => withClient(database.url, (client) => client.query(sql));

test('a first build that fails is told with its place, and tried again after a change', async () => {
  expect(told('failed')).toMatchObject([{ reasons: [], message: expect.stringContaining('permissions.yaml:') }]);
  expect((await server.ask('/items/docs')).json).toEqual({ data: [{ id: 1, title: 'One' }] });
});

test('a column that is added is served, and only its files are written', async () => {
  const untouched = join(project.folder, 'generated', 'collections', 'authors.d.ts');
  const { mtimeMs } = await stat(untouched);
  const rebuilt = await after(alter('ALTER TABLE docs ADD COLUMN body text'), 'rebuilt');
  expect(rebuilt).toMatchObject({ reasons: ['database'], breaking: 0 });
  expect((await server.admin('/items/docs')).json.data[0]).toEqual({ id: 1, title: 'One', author_id: 1, body: null });
  expect(await server.ask('/items/docs')).toMatchObject({ json: { data: [{ id: 1, title: 'One' }] } });
  await expect.poll(() => written('collections/docs.d.ts')).toContain('body');
  expect((await stat(untouched)).mtimeMs).toBe(mtimeMs);
});

test('a column is noticed by an event trigger, and without it by asking', async () => {
  expect(told('notices')).toEqual([{ event: 'notices', live: true, trigger: expect.stringMatching(/^platform_dev_/) }]);
  await alter(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'platform dev'`)();
  await expect.poll(() => told('notices').at(-1)).toMatchObject({ live: false, reason: expect.any(String) });
  const asked = await after(alter("COMMENT ON COLUMN docs.body IS 'Text.'"), 'rebuilt');
  expect(asked.reasons).toEqual(['database']);
  await expect.poll(() => told('notices').at(-1)?.live, { timeout: 20_000 }).toBe(true);
});

test('what a change of other tables tells nobody of is found afterwards', async () => {
  await after(
    alter(`CREATE FUNCTION titled() RETURNS text LANGUAGE sql AS 'SELECT NULL::text'; CREATE COLLATION plain FROM "C";
    CREATE TABLE alone (id integer PRIMARY KEY); ALTER TABLE docs ALTER title SET DEFAULT titled();
    ALTER TABLE docs ADD label text COLLATE plain`),
    'rebuilt',
  );
  const schema = () => readFile(join(project.folder, 'platform.schema.json'), 'utf8');
  expect(await schema()).toContain('titled()');
  await after(alter('ALTER FUNCTION titled() RENAME TO untitled'), 'rebuilt');
  expect(await schema()).toContain('untitled()');
  // No mark is of collations, so this is not noticed.
  await alter('ALTER COLLATION plain RENAME TO simple')();
  await after(alter("COMMENT ON TABLE alone IS 'Of others.'"), 'rebuilt');
  expect(await schema()).toContain('Of others.');
  expect(await schema()).not.toContain('simple');
  await after(async () => undefined, 'rebuilt');
  expect(await schema()).toContain('simple');
  const removed = 'ALTER TABLE docs DROP label; DROP COLLATION simple';
  await after(alter(`DROP TABLE alone; ALTER TABLE docs ALTER title DROP DEFAULT; ${removed}`), 'rebuilt');
});

test('rules that change are served, and what that means to clients is told', async () => {
  const rebuilt = await after(() => permit('id'), 'rebuilt');
  expect(rebuilt).toMatchObject({ reasons: ['permissions.yaml'], breaking: 1 });
  // These lines come behind.
  await expect
    .poll(() => told('change'))
    .toContainEqual(expect.objectContaining({ subject: 'docs.title', roles: ['public'] }));
  expect((await server.ask('/items/docs')).json).toEqual({ data: [{ id: 1 }] });
});

test('what is wrong is told and leaves what is served, until it is mended', async () => {
  const failed = await after(() => put(join(project.folder, 'permissions.yaml'), 'permissions: ['), 'failed');
  expect(failed.message).toContain('yaml-syntax at permissions.yaml');
  expect((await server.ask('/items/docs')).json).toEqual({ data: [{ id: 1 }] });
  await after(() => permit('id, titel'), 'failed');
  expect((await server.ask('/items/docs')).json).toEqual({ data: [{ id: 1 }] });
  await after(() => permit('id, body'), 'rebuilt');
  expect((await server.ask('/items/docs')).json).toEqual({ data: [{ id: 1, body: null }] });
});

test('tables that change while something is wrong are read when it is mended', async () => {
  const before = await readFile(join(project.folder, 'permissions.yaml'), 'utf8');
  await after(() => put(join(project.folder, 'permissions.yaml'), 'permissions: ['), 'failed');
  await after(alter('ALTER TABLE docs ADD COLUMN later text'), 'failed');
  await after(() => put(join(project.folder, 'permissions.yaml'), before), 'rebuilt');
  expect((await server.admin('/items/docs')).json.data[0]).toHaveProperty('later');
  await expect.poll(() => written('collections/docs.d.ts')).toContain('later');
});

test('tables that are as they were before an error are told to be served', async () => {
  const failed = await after(alter('ALTER TABLE docs RENAME COLUMN body TO text'), 'failed');
  expect(failed.message).toContain('has no field "body"');
  const mended = await after(alter('ALTER TABLE docs RENAME COLUMN text TO body'), 'rebuilt');
  expect(mended).toMatchObject({ reasons: ['database'], breaking: 0, dangerous: 0, safe: 0, written: 0 });
});

test('a configuration that changes while the database is away is served when it is back', async () => {
  const elsewhere = new URL(database.url);
  elsewhere.pathname = '/postgres';
  const reach = (isOpen: boolean) => () =>
    withClient(elsewhere.href, (client) =>
      client.query(`ALTER DATABASE ${database.name} ALLOW_CONNECTIONS ${isOpen};
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database.name}'`),
    );
  await alter('CREATE TABLE spare (id integer PRIMARY KEY)')();
  await expect.poll(async () => (await server.admin('/items/spare')).status, { timeout: 20_000 }).toBe(200);
  await reach(false)();
  const away = {
    live: false,
    reason: expect.stringMatching(/ cannot be used: database .* is not currently accepting/),
  };
  await expect.poll(() => told('database').at(-1), { timeout: 20_000 }).toMatchObject(away);
  const config = "export default { database: { exclude: ['spare'] } };\n";
  const failed = await after(() => put(join(project.folder, 'platform.config.ts'), config), 'failed');
  expect(failed.message).toMatch(/ cannot be used: database .* is not currently accepting connections\.$/);
  await after(reach(true), 'rebuilt');
  expect(told('database').at(-1)).toEqual({ event: 'database', live: true });
  expect((await server.admin('/items/spare')).status).toBe(403);
  expect(told('failed').filter(({ message }) => message === failed.message)).toHaveLength(1);
});

test('what is served though its files cannot be written is told to be', async () => {
  const blocked = join(project.folder, 'generated', 'access', 'public.js');
  await rm(blocked);
  await mkdir(join(blocked, 'in the way'), { recursive: true });
  await after(() => permit('id, later'), 'failed');
  expect((await server.ask('/items/docs')).json).toEqual({ data: [{ id: 1, later: null }] });
  await rm(blocked, { recursive: true });
  await after(() => permit('id, body'), 'rebuilt');
  expect(await written('access/public.js')).toContain('body');
});

test('the configuration is read again', async () => {
  const config = "export default { tables: { docs: { fields: { body: { name: 'text' } } } } };\n";
  const failed = await after(() => put(join(project.folder, 'platform.config.ts'), config), 'failed');
  expect(failed.message).toMatch(/platform.config.ts|permissions.yaml/);
  await after(() => put(join(project.folder, 'platform.config.ts'), 'export default { graphql: false };\n'), 'rebuilt');
  expect((await server.ask('/graphql', { method: 'POST', body: { query: '{ docs { id } }' } })).status).toBe(404);
});

test('files that the configuration imports are watched with those that they import', async () => {
  const config = (from: string) => `import { graphql } from './${from}';\nexport default { graphql };\n`;
  await mkdir(join(project.folder, 'settings'));
  await writeFile(join(project.folder, 'settings', 'switches.json'), '{ "graphql": false }\n');
  await writeFile(
    join(project.folder, 'settings', 'graphql.ts'),
    "import switches from './switches.json' with { type: 'json' };\nexport const { graphql } = switches;\n",
  );
  const query = async () =>
    (await server.ask('/graphql', { method: 'POST', body: { query: '{ docs { id } }' } })).status;
  await after(() => put(join(project.folder, 'platform.config.ts'), config('settings/graphql.ts')), 'rebuilt');
  expect(await query()).toBe(404);
  await after(() => put(join(project.folder, 'settings', 'switches.json'), '{ "graphql": true }\n'), 'rebuilt');
  expect(await query()).toBe(200);
  const constant = 'export const graphql = false;\n';
  await after(() => put(join(project.folder, 'settings', 'graphql.ts'), constant), 'rebuilt');
  expect(await query()).toBe(404);
});

test('code of the project is loaded again, what it imports included, and its types are checked', async () => {
  const folder = join(project.folder, 'extensions');
  // Each build is checked from here on, which takes most of the processor's time of one.
  await server.stop();
  server = await startUnchecked(project.folder, database.url, {}, ['--notify'], 'dev');
  await expect.poll(() => told('types'), { timeout: 180_000 }).toHaveLength(1);
  const [first] = told('types');
  await mkdir(join(folder, 'lib'), { recursive: true });
  await writeFile(join(folder, 'lib', 'word.ts'), "export const word = 'one';\n");
  const extension = `import { defineExtension } from '../generated/extension.js';
import { word } from './lib/word.ts';
interface Hello { readonly response: { readonly word: string } }
export default defineExtension(({ route }) => {
  route<Hello>('GET /hello', { roles: ['public'] }, () => ({ word }));
});
`;
  await after(() => put(join(folder, 'hello.ts'), extension), 'rebuilt');
  expect((await server.ask('/hello')).json).toEqual({ word: 'one' });
  await after(() => put(join(folder, 'lib', 'word.ts'), "export const word = 'two';\n"), 'rebuilt');
  expect((await server.ask('/hello')).json).toEqual({ word: 'two' });
  // As Emacs marks a file that it has open.
  await symlink('somebody@somewhere.1', join(folder, '.#hello.ts'));
  const misused =
    "export const word = 'three';\nconst found = { a: { word } };\nexport const count: { a: { word: number } } = found;\n";
  const types = await after(() => put(join(folder, 'lib', 'word.ts'), misused), 'types');
  expect(types.kind).toBe('checked');
  // Files of packages are read and parsed for the first check only.
  expect(types.ms).toBeLessThan(Number(first?.ms));
  await expect
    .poll(() => told('types').at(-1)?.errors, { timeout: 180_000 })
    .toEqual([expect.stringMatching(/^extensions\/lib\/word\.ts:3: (?:\S+ )+\S+$/)]);
  await put(join(folder, 'lib', 'deep.ts'), deep);
  const lastTypes = () => told('types').at(-1);
  await expect
    .poll(lastTypes, { timeout: 180_000 })
    .toMatchObject({ kind: 'unchecked', reason: 'Maximum call stack size exceeded' });
  await rm(join(folder, 'lib', 'deep.ts'));
  await expect.poll(lastTypes, { timeout: 180_000 }).toMatchObject({ kind: 'checked' });
});

test('code that cannot be loaded is told with its place, also by the first build', async () => {
  const other = await createProject();
  await mkdir(join(other.folder, 'extensions'));
  const extension = (line: string): string => `import { defineExtension } from '../generated/extension.js';
${line}
export default defineExtension(() => {});
`;
  const file = join(other.folder, 'extensions', 'late.ts');
  await writeFile(file, extension("throw new Error('Not today.');"));
  let failed = '';
  const late = await startUnchecked(other.folder, database.url, {}, ['--no-types'], 'dev', (text) => {
    if (failed !== '' || !text.includes('"event":"failed"')) return;
    failed = text;
    void put(file, extension(''));
  });
  expect(failed).toContain('extensions/late.ts:2 cannot be loaded: Not today.');
  expect((await late.admin('/items/docs')).status).toBe(200);
  await put(file, extension("throw new Error('Nor tomorrow.');"));
  await expect
    .poll(() => late.log(), { timeout: 60_000 })
    .toContain('extensions/late.ts:2 cannot be loaded: Nor tomorrow.');
  expect(late.log()).toContain('The generated files, from which it is loaded, are those of the change already.');
  await late.stop();
  await other.remove();
});

test('a mark of the catalog changes with every table, and with no row', async () => {
  await withClient(database.url, async (client) => {
    const marks = (): Promise<CatalogStamps> => readStamps('postgres', runOn(client));
    const changes = async (sql: string): Promise<boolean> => {
      const before = await marks();
      await client.query(sql);
      return changedRelations(before, await marks()) !== null;
    };
    const temporary = `CREATE FUNCTION pg_temp.none() RETURNS int LANGUAGE sql AS 'SELECT 1';
      CREATE TEMP TABLE brief (id serial PRIMARY KEY, text text DEFAULT 'x' CHECK (text <> ''));
      CREATE TEMP VIEW briefer AS SELECT id FROM brief; COMMENT ON TABLE brief IS 'Of this session.'`;
    for (const sql of ["INSERT INTO authors VALUES (2, 'Bea')", 'ANALYZE', 'VACUUM', temporary, 'DISCARD TEMP']) {
      expect(await changes(sql), sql).toBe(false);
    }
    for (const sql of [
      "COMMENT ON COLUMN docs.title IS 'What it is called.'",
      'ALTER TABLE docs ALTER title SET NOT NULL',
      "CREATE TYPE mood AS ENUM ('calm')",
      "ALTER TYPE mood ADD VALUE 'wild'",
      'CREATE VIEW titles AS SELECT title FROM docs',
      'CREATE OR REPLACE VIEW titles AS SELECT title || title AS title FROM docs',
      'GRANT SELECT ON docs TO PUBLIC',
      'CREATE UNIQUE INDEX ON docs (title)',
      'ALTER TABLE docs ENABLE ROW LEVEL SECURITY',
      'DROP VIEW titles',
      `CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
        CREATE TRIGGER first AFTER INSERT ON docs EXECUTE FUNCTION nothing()`,
      'CREATE TRIGGER second AFTER INSERT ON docs EXECUTE FUNCTION nothing()',
      'ALTER TABLE docs DISABLE TRIGGER second',
      'DROP TRIGGER first ON docs',
      'REVOKE ALL ON SCHEMA public FROM PUBLIC',
      'GRANT USAGE ON SCHEMA public TO PUBLIC',
    ]) {
      expect(await changes(sql), sql).toBe(true);
    }
  });
});

// The last one waits for half a minute; the others ask nothing of its database.
test.concurrent('it ends when it is told to while it waits for a database that does not answer', async ({ expect }) => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const url = `postgres://user@127.0.0.1:${Object(silent.address()).port}/shop`;
  const child = spawnPlatform(['dev', '--project', project.folder], { DATABASE_URL: url });
  await once(silent, 'connection');
  child.kill('SIGINT');
  // The connection is given up after ten seconds.
  expect(await Promise.race([once(child, 'exit'), wait(8_000, 'it goes on')])).toEqual([0, null]);
  silent.close();
});

test.concurrent('types are checked again where a file that ends the compiler came and went between two looks, and after a death', async ({
  expect,
}) => {
  const threads: Worker[] = [];
  const hear = (thread: Worker) => threads.push(thread);
  process.on('worker', hear);
  const other = await createProject();
  const folder = join(other.folder, 'extensions');
  await mkdir(folder);
  const verdicts: TypeVerdict[] = [];
  const checks = startTypeChecks({ folder: other.folder, folders: ['extensions'] }, (verdict) =>
    verdicts.push(verdict),
  );
  await writeFile(join(folder, 'word.ts'), "export const word = 'one';\n");
  checks.check();
  await expect.poll(() => verdicts.length, { timeout: 60_000 }).toBe(1);
  await writeFile(join(folder, 'deep.ts'), deep);
  checks.check();
  // The compiler has ended by then, and waits before it tries again.
  await new Promise((resolve) => setTimeout(resolve, 700));
  await rm(join(folder, 'deep.ts'));
  await expect.poll(() => verdicts.length, { timeout: 60_000 }).toBe(2);
  expect(verdicts[1]).toMatchObject({ kind: 'checked', errors: [] });
  await threads[0]?.terminate();
  await expect.poll(() => verdicts.slice(2)).toMatchObject([{ kind: 'unchecked' }]);
  checks.check();
  await expect.poll(() => verdicts.slice(3), { timeout: 60_000 }).toMatchObject([{ kind: 'checked', errors: [] }]);
  await checks.close();
  process.off('worker', hear);
  expect(verdicts).toHaveLength(4);
  await other.remove();
});

test.concurrent('while the database hangs files are followed, and it ends when it is told to and leaves nothing behind', async ({
  expect,
}) => {
  await withClient(database.url, async (client) => {
    // Looks wait for the lock; without the session that tells of changes there is one every second.
    await client.query(`BEGIN; LOCK TABLE pg_catalog.pg_class IN ACCESS EXCLUSIVE MODE;
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'platform dev'`);
    await wait(2_000);
    await after(() => permit('id'), 'rebuilt');
    expect(await Promise.race([server.stop('SIGINT'), wait(40_000, 'it goes on')])).toBe(0);
  });
  expect(existsSync(join(project.folder, 'generated', 'manifest.json'))).toBe(true);
  const left = await withClient(database.url, (client) => client.query('SELECT evtname FROM pg_event_trigger'));
  expect(left.rows).toEqual([]);
});
