/** The platform's own tables by the command: only when asked, by several processes at once, with advice when it fails. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { undoMigrations } from '@tablewright/runtime/tools';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import type { CommandResult } from '../support/platform.ts';
import { migrationConnection } from '../support/system.ts';
import { runWarm } from '../support/warm-command.ts';

let folder: string;
let database: TestDatabase;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-migrate-'));
  database = await createDatabase('CREATE TABLE books (id int PRIMARY KEY)');
});
afterAll(() => Promise.all([database?.drop(), rm(folder, { recursive: true, force: true })]));

function platform(...args: readonly string[]): Promise<CommandResult> {
  return runWarm([...args, '--project', folder], { DATABASE_URL: database.url });
}

function query(sql: string): Promise<readonly unknown[]> {
  return withClient(database.url, async (client) => (await client.query(sql)).rows);
}

function events({ stdout }: CommandResult): readonly Readonly<Record<string, unknown>>[] {
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
}

it('nothing but `init --system` and `migrate` installs them', async () => {
  for (const args of [['init', '--yes'], ['generate'], ['migrate', '--status']]) await platform(...args);
  expect(await query("SELECT FROM pg_namespace WHERE nspname = 'platform'")).toEqual([]);
  const status = await platform('migrate', '--status', '--json');
  expect(status.code).toBe(1);
  expect(events(status).filter(({ action }) => action === 'pending')).toHaveLength(8);
}, 90_000);

it('five processes install them once', async () => {
  const results = await Promise.all(Array.from({ length: 5 }, () => platform('migrate', '--json')));
  expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
  const applied = results.flatMap(events).flatMap(({ event, name }) => (event === 'migration' ? [name] : []));
  expect(applied.toSorted()).toEqual([
    'accounts',
    'activity',
    'activity-actions',
    'files',
    'model',
    'product-name',
    'requests',
    'sessions',
  ]);
  expect((await platform('migrate')).stderr).toContain('are up to date');
  const status = await platform('migrate', '--status');
  expect(status.code).toBe(0);
  expect(status.stderr).toMatch(/^ {2}1 accounts {2}applied \S+Z by version \S+$/m);
}, 120_000);

it('are compiled from then on', async () => {
  expect((await platform('generate')).code).toBe(0);
  expect(await readdir(join(folder, 'generated/collections'))).toContain('platform_users.d.ts');
  const resources = [
    'activity',
    'comments',
    'files',
    'folders',
    'permissions',
    'presets',
    'revisions',
    'roles',
    'settings',
    'users',
  ];
  const files = await readdir(join(folder, 'generated/routes'));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, 'generated/routes', name), 'utf8')));
  const routes = files.filter((_, at) => texts[at]?.includes('Routes('));
  expect(routes).toEqual(['books.js', ...resources.map((name) => `platform_${name}.js`)]);
});

it('files of another tool are not told as migrations that the database lacks', async () => {
  await mkdir(join(folder, 'migrations'));
  for (const name of ['0001_pens.up', '0001_pens.down']) {
    await writeFile(join(folder, `migrations/${name}.sql`), 'DROP TABLE pens;\n');
  }
  const { code, stderr } = await platform('generate');
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('lacks')]);
  await rm(join(folder, 'migrations'), { recursive: true });
}, 90_000);

it('are compiled as far as they are there, and say what they lack', async () => {
  expect((await platform('migrate', '--down', '1', '--yes')).code).toBe(2);
  await withClient(database.url, (client) => undoMigrations(migrationConnection(client), 1));
  const generated = await platform('generate');
  expect(generated.stderr).toMatch(/older than this version; they lack 8 "activity-actions"\.\n.*platform migrate/);
  expect(generated.code).toBe(0);
  expect((await platform('init', '--yes', '--system')).stderr).toContain('1 migration applied');
}, 90_000);

it('of the project are the same with the line breaks of Windows, as version control writes them', async () => {
  await mkdir(join(folder, 'migrations'), { recursive: true });
  const lines = ['CREATE TABLE shelves (id int PRIMARY KEY);', 'INSERT INTO shelves VALUES (1);', ''];
  const migrate = async (end: string, more = ''): Promise<CommandResult> => {
    await writeFile(join(folder, 'migrations/0001-shelves.sql'), lines.join(end) + more);
    return platform('migrate');
  };
  const results = [await migrate('\r\n'), await migrate('\n'), await migrate('\r\n')];
  expect(results.map(({ code }) => code)).toEqual([0, 0, 0]);
  // Shells and editors there begin a file with a mark, or write it as UTF-16.
  await writeFile(join(folder, 'migrations/0002-books.sql'), '\ufeffINSERT INTO shelves VALUES (2);\n', 'utf16le');
  expect((await platform('migrate')).code).toBe(0);
  await writeFile(join(folder, 'migrations/0002-books.sql'), '\ufeffINSERT INTO shelves VALUES (2);\n');
  expect((await platform('migrate')).code).toBe(0);
  expect(await query('SELECT id FROM shelves')).toEqual([{ id: 1 }, { id: 2 }]);
  // A project that went back gets the file that its database has had, and is told so.
  await rm(join(folder, 'migrations/0002-books.sql'));
  expect((await platform('migrate')).stderr).toContain('Wrote migrations/0002-books.sql, which the database has had.');
  expect(await readFile(join(folder, 'migrations/0002-books.sql'), 'utf8')).toBe('INSERT INTO shelves VALUES (2);\n');
  const written = '0002 Bücher.neu';
  await writeFile(join(folder, `migrations/${written}.sql`), 'SELECT 1;\n');
  expect((await platform('migrate')).stderr).toContain('Applied 1 migration');
  await rm(join(folder, `migrations/${written}.sql`));
  await query(
    "INSERT INTO platform.platform_project_migrations VALUES ('../out', repeat('0', 64), 'SELECT 1;', now(), '')",
  );
  expect((await platform('migrate')).stderr).toContain(`Wrote migrations/${written}.sql, which the database has had.`);
  expect(await readdir(folder)).not.toContain('out.sql');
  await query("DELETE FROM platform.platform_project_migrations WHERE name = '../out'");
  // A version before wrote such a text down as it was.
  const script = "replace(script, E'\\n', E'\\r\\n')";
  const checksum = `encode(sha256(convert_to(${script}, 'UTF8')), 'hex')`;
  await query(`UPDATE platform.platform_project_migrations SET script = ${script}, checksum = ${checksum}`);
  expect((await migrate('\n')).code).toBe(0);
  const changed = await migrate('\r\n', 'SELECT 1;');
  expect([changed.code, changed.stderr]).toEqual([1, expect.stringContaining('0001-shelves is not the one that was')]);
  await rm(join(folder, 'migrations'), { recursive: true });
}, 90_000);

it('of the project do not share what one sets, and tell what stays of one that ends its transaction', async () => {
  await mkdir(join(folder, 'migrations'), { recursive: true });
  const write = (name: string, ...lines: readonly string[]) =>
    writeFile(join(folder, `migrations/${name}.sql`), lines.join('\n'));
  // As dumps begin.
  const dumped = ["SELECT pg_catalog.set_config('search_path', '', false);", 'SET default_table_access_method = heap;'];
  await write('0003-dump', ...dumped, 'CREATE TABLE public.rooms (id int PRIMARY KEY);');
  // A role that owns the tables, and may not write down what the database has had.
  await query('DROP ROLE IF EXISTS migrate_owner; CREATE ROLE migrate_owner');
  await query('GRANT CREATE ON SCHEMA public TO migrate_owner');
  await write('0003-owned', 'SET ROLE migrate_owner;', 'CREATE TABLE owned (id int PRIMARY KEY);');
  await write('0004-doors', 'CREATE TABLE doors (id int PRIMARY KEY);');
  // As a server changes the type, where the database has another time zone.
  await query(`ALTER DATABASE "${new URL(database.url).pathname.slice(1)}" SET timezone = 'Asia/Tokyo'`);
  const clocks = "CREATE TABLE clocks AS SELECT timestamptz '2020-01-01T00:00Z' AS at;";
  await write('0004-clocks', clocks, 'ALTER TABLE clocks ALTER COLUMN at TYPE timestamp USING at::timestamp;');
  expect((await platform('migrate')).stderr).toContain('Applied 4 migrations');
  expect(await query('SELECT at::text FROM clocks')).toEqual([{ at: '2020-01-01 00:00:00' }]);
  const owners = "SELECT tablename FROM pg_tables WHERE tableowner = 'migrate_owner'";
  expect(await query(owners)).toEqual([{ tablename: 'owned' }]);
  await query('DROP OWNED BY migrate_owner; DROP ROLE migrate_owner');
  await write('0005-own', 'BEGIN;', 'CREATE TABLE kept (id int);', 'COMMIT;', 'CREATE TABLE doors (id int);');
  const ended = await platform('migrate');
  expect([ended.code, ended.stderr]).toEqual([
    3,
    expect.stringMatching(/"doors" already exists.*a part of it may stay/),
  ]);
  expect(ended.stderr).toContain('remove BEGIN and COMMIT');
  await write('0005-own', 'CREATE TABLE lost (id int);', 'CREATE TABLE doors (id int);');
  const undone = await platform('migrate');
  expect([undone.code, undone.stderr]).toEqual([3, expect.stringMatching(/already exists.*Nothing of it stays/)]);
  await writeFile(join(folder, 'migrations/0005-own.sql'), Buffer.from("SELECT 'Müller';", 'latin1'));
  const garbled = await platform('migrate');
  expect([garbled.code, garbled.stderr]).toEqual([1, expect.stringContaining('0005-own.sql" is no text in UTF-8.')]);
  // A version before applied such a file, and wrote down what it had made of it.
  await write('0005-own', "SELECT 'M\ufffdller';");
  expect((await platform('migrate')).code).toBe(0);
  await writeFile(join(folder, 'migrations/0005-own.sql'), Buffer.from("SELECT 'Müller';", 'latin1'));
  expect(await platform('migrate')).toMatchObject({ code: 0 });
  await write('0006-lost', `-- ${'\u{1f511}'.repeat(20)}`, 'CREATE TABLE lost (', '  id int', '  name text', ');');
  expect((await platform('migrate')).stderr).toContain(
    'syntax error at or near "name", in line 4. Nothing of it stays.',
  );
  expect(await query("SELECT to_regclass('kept')::text AS kept, to_regclass('lost') AS lost")).toEqual([
    { kept: 'kept', lost: null },
  ]);
  await rm(join(folder, 'migrations'), { recursive: true });
}, 90_000);

it('of the project are refused where another machine has applied another of their name meanwhile', async () => {
  await mkdir(join(folder, 'migrations'), { recursive: true });
  const values = "'0002-pens', repeat('0', 64), 'SELECT 2;', now(), '0.1.0'";
  const others = `INSERT INTO platform.platform_project_migrations (name, checksum, script, applied_at, version) VALUES (${values});`;
  await writeFile(join(folder, 'migrations/0001-others.sql'), others);
  await writeFile(join(folder, 'migrations/0002-pens.sql'), 'CREATE TABLE pens (id int PRIMARY KEY);');
  const { code, stderr } = await platform('migrate');
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('The migration 0002-pens is not the one that was applied'),
  ]);
  await query("DELETE FROM platform.platform_project_migrations WHERE name IN ('0001-others', '0002-pens')");
  await rm(join(folder, 'migrations'), { recursive: true });
}, 90_000);

it('of the project that the database lacks are named when it is compiled', async () => {
  await mkdir(join(folder, 'migrations'), { recursive: true });
  await writeFile(join(folder, 'migrations/0006-lamps.sql'), 'CREATE TABLE lamps (id int PRIMARY KEY);\n');
  const lacking =
    /warning.*migrations-pending[\s\S]*The database lacks the migrations 0006-lamps\.[\s\S]*Run `.*platform migrate/;
  const behind = await platform('generate');
  expect([behind.code, behind.stderr]).toEqual([0, expect.stringMatching(lacking)]);
  expect((await platform('migrate')).stderr).not.toContain('lacks');
  expect((await platform('generate')).stderr).not.toContain('lacks');
  await writeFile(join(folder, 'migrations/0006-lamps.sql'), 'CREATE TABLE lamps (id bigint PRIMARY KEY);\n');
  const changed = /warning.*migration-unusable[\s\S]*The migration 0006-lamps is not the one that was applied/;
  expect((await platform('generate')).stderr).toMatch(changed);
  await writeFile(join(folder, 'migrations/0006-lamps.sql'), 'CREATE TABLE lamps (id int PRIMARY KEY);\n');
}, 90_000);

it('of the project are not named as lacking to a role that may not read which the database has had', async () => {
  await query(`CREATE ROLE cli_reader LOGIN PASSWORD 'reader'; GRANT USAGE ON SCHEMA platform TO cli_reader;
    GRANT SELECT ON ALL TABLES IN SCHEMA public, platform TO cli_reader;
    REVOKE ALL ON platform.platform_project_migrations FROM cli_reader`);
  const url = new URL(database.url);
  url.username = 'cli_reader';
  url.password = 'reader';
  const reader = (...args: readonly string[]) => runWarm([...args, '--project', folder], { DATABASE_URL: url.href });
  try {
    const generated = await reader('generate');
    expect([generated.code, generated.stderr]).toEqual([0, expect.not.stringContaining('lacks')]);
    const status = await reader('migrate', '--status');
    expect([status.code, status.stderr]).toEqual([
      3,
      expect.stringContaining('may not read platform_project_migrations'),
    ]);
  } finally {
    await query('DROP OWNED BY cli_reader; DROP ROLE cli_reader');
  }
  await rm(join(folder, 'migrations'), { recursive: true });
}, 90_000);

describe('with advice they refuse', () => {
  it('a migration that was changed', async () => {
    await query("UPDATE platform.platform_migrations SET checksum = repeat('0', 64) WHERE id = 2");
    for (const args of [['migrate'], ['migrate', '--status'], ['generate']]) {
      const { code, stderr } = await platform(...args);
      expect(stderr).toMatch(/The migration 2 "sessions" is not the one that was applied on .*\n.*restore its text/);
      expect(code).toBe(1);
    }
  }, 90_000);

  it('a database that a later version migrated', async () => {
    await query('DELETE FROM platform.platform_migrations WHERE id = 2');
    await query("INSERT INTO platform.platform_migrations VALUES (99, 'later', repeat('0', 64), now(), '9.9.9')");
    const { code, stderr } = await platform('migrate');
    expect(stderr).toMatch(
      /newer than this version: version 9\.9\.9 applied the migration 99 "later"\.\n.*Run version 9\.9\.9/,
    );
    expect(code).toBe(1);
  });

  it('a role that may not create tables', async () => {
    await query("CREATE ROLE cli_guest LOGIN PASSWORD 'guest'; DROP SCHEMA platform CASCADE");
    const url = new URL(database.url);
    url.username = 'cli_guest';
    url.password = 'guest';
    try {
      const { code, stderr } = await runWarm(['migrate', '--project', folder], { DATABASE_URL: url.href });
      expect(stderr).toMatch(
        /The database role may not create the tables of the platform: permission denied.*\n.*CREATE/,
      );
      expect(code).toBe(3);
    } finally {
      await query('DROP ROLE cli_guest');
    }
  });
});
