/** What pipelines ask before a deploy: whether everything that was committed still fits the database and one another. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import type { CommandResult } from '../support/platform.ts';
import { runWarm } from '../support/warm-command.ts';

const permissions = `permissions:
  public:
    books:
      read: { fields: [id, title] }
`;

let folder: string;
let database: TestDatabase;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-check-'));
  database = await createDatabase('CREATE TABLE books (id int PRIMARY KEY, title varchar(40) NOT NULL, pages int)');
  await writeFile(join(folder, 'permissions.yaml'), permissions);
  expect((await platform('generate')).code).toBe(0);
});
afterAll(() => Promise.all([database?.drop(), rm(folder, { recursive: true, force: true })]));

function platform(...args: readonly string[]): Promise<CommandResult> {
  return runWarm([...args, '--project', folder], { DATABASE_URL: database.url });
}

/** Every file with its text and the time it was written. */
async function state(): Promise<readonly (readonly [path: string, text: string, time: number])[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Promise.all(
    paths.sort().map(async (path) => [path, await readFile(path, 'utf8'), (await stat(path)).mtimeMs] as const),
  );
}

/** Runs `check` and returns each pair with its verdict, and what was found. */
async function verdicts(...args: readonly string[]): Promise<Verdicts> {
  return verdictsOf(await platform('check', '--json', ...args));
}

interface Verdicts {
  readonly code: number;
  readonly pairs: readonly string[];
  readonly found: readonly string[];
}

function verdictsOf({ code, stdout }: CommandResult): Verdicts {
  const lines = stdout.trim().split('\n');
  const told = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'verdict');
  return {
    code,
    pairs: told.map(({ pair, verdict }) => `${pair.join(' ')}: ${verdict}`),
    found: told.flatMap(({ findings }) => findings.map(({ object }: { readonly object: string }) => object)),
  };
}

it('judges a project that fits: nothing is written, exit 0', async () => {
  const before = await state();
  const { code, stderr } = await platform('generate', '--check');
  expect(stderr).toContain('up to date');
  expect(code).toBe(0);
  expect(await verdicts()).toEqual({
    code: 0,
    pairs: [
      'database platform.schema.json: fits',
      'database generated: fits',
      'database permissions.yaml: fits',
      'platform.schema.json generated: fits',
      'platform.schema.json permissions.yaml: fits',
      'generated permissions.yaml: fits',
    ],
    found: [],
  });
  expect(await state()).toEqual(before);
});

it('judges files with the line breaks of Windows as those that were written', async () => {
  const paths = (await readdir(join(folder, 'generated'), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const files = [...paths, join(folder, 'platform.schema.json')];
  const texts = await Promise.all(files.map((path) => readFile(path, 'utf8')));
  const write = (text: (at: number) => string) => Promise.all(files.map((path, at) => writeFile(path, text(at))));
  await write((at) => (texts[at] ?? '').replaceAll('\n', '\r\n'));
  expect((await platform('generate', '--check')).stderr).toContain('up to date');
  expect((await verdicts()).found).toEqual([]);
  await write((at) => texts[at] ?? '');
});

describe('a column of another type, and one that is gone', () => {
  beforeAll(() => alter('ALTER TABLE books ALTER title TYPE text, DROP COLUMN pages'));
  afterAll(() => alter('ALTER TABLE books ALTER title TYPE varchar(40), ADD COLUMN pages int'));

  it('is told file by file by generate --check, which writes nothing', async () => {
    const before = await state();
    const { code, stdout } = await platform('generate', '--check', '--json');
    expect(code).toBe(1);
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const files = events.filter(({ event }) => event === 'file').map(({ path, change }) => `${change} ${path}`);
    expect(files).toContain('changed platform.schema.json');
    expect(files).toContain('changed generated/collections/books.d.ts');
    expect(files).toContain('changed generated/routes/books.js');
    expect(files.some((file) => file.includes('main.js'))).toBe(false);
    expect(events.at(-1)).toMatchObject({ event: 'summary', upToDate: false, different: files.length });
    const { stderr } = await platform('generate', '--check');
    expect(stderr).toMatch(/changed {2}generated\/collections\/books\.d\.ts\n {4}- /);
    expect(await state()).toEqual(before);
  });

  it('is named by check', async () => {
    const { code, pairs, found } = await verdicts();
    expect(code).toBe(1);
    expect(pairs).toEqual([
      'database platform.schema.json: differs',
      'database generated: differs',
      'database permissions.yaml: fits',
      'platform.schema.json generated: fits',
      'platform.schema.json permissions.yaml: fits',
      'generated permissions.yaml: fits',
    ]);
    const columns = ['column public.books.title', 'column public.books.pages'];
    expect(found).toEqual([...columns, ...columns]);
    expect((await platform('check')).stderr).toMatch(
      /platform generate .*` makes the files anew; .*platform migrate .*`\.$/m,
    );
  });

  it('is nothing to check --offline', async () => {
    expect(await verdicts('--offline')).toMatchObject({ code: 0, found: [] });
  });
});

it('names the rule that lost its column, and the rule that is not compiled yet', async () => {
  await alter('ALTER TABLE books RENAME title TO name');
  const lost = await verdicts();
  expect(lost.code).toBe(1);
  expect(lost.pairs).toContain('database permissions.yaml: differs');
  expect(lost.found).toContain('permissions.yaml:4:28');
  await alter('ALTER TABLE books RENAME name TO title');
  await writeFile(join(folder, 'permissions.yaml'), permissions.replace('[id, title]', '[id]'));
  const changed = await verdicts('--offline');
  expect(changed).toEqual({
    code: 1,
    pairs: [
      'platform.schema.json generated: fits',
      'platform.schema.json permissions.yaml: differs',
      'generated permissions.yaml: differs',
    ],
    found: ['rule public read books', 'rule public read books'],
  });
  await writeFile(join(folder, 'permissions.yaml'), permissions);
});

it('names a generated file that somebody edited', async () => {
  const path = join(folder, 'generated/routes/books.js');
  const text = await readFile(path, 'utf8');
  await writeFile(path, `${text}// mine\n`);
  const { code, found } = await verdicts('--offline');
  expect({ code, found }).toEqual({ code: 1, found: ['generated/routes/books.js'] });
  await writeFile(path, text);
});

it('ends with 2 where it cannot judge', async () => {
  const nowhere = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere' };
  for (const command of [['check'], ['generate', '--check']]) {
    expect((await runWarm([...command, '--project', folder], nowhere)).code).toBe(2);
  }
});

it('tells what the file system refuses, which is no bug', async () => {
  const path = join(folder, 'generated/server.js');
  const text = await readFile(path, 'utf8');
  await rm(path);
  await mkdir(path);
  const changed = await verdicts('--offline');
  expect(changed).toEqual({ code: 1, pairs: expect.anything(), found: ['generated/server.js'] });
  const { code, stderr } = await platform('generate', '--offline');
  expect(stderr).toMatch(/The file system refuses: EISDIR: .*generated\/server\.js/);
  expect(stderr).not.toContain('bug of the platform');
  expect(code).toBe(2);
  await rm(path, { recursive: true });
  await writeFile(path, text);
  await rm(join(folder, 'permissions.yaml'));
  await mkdir(join(folder, 'permissions.yaml'));
  const unread = await platform('check', '--offline');
  expect(unread.stderr).toMatch(/The file of permissions ".*permissions\.yaml" cannot be read: EISDIR/);
  expect(unread.code).toBe(2);
  await rm(join(folder, 'permissions.yaml'), { recursive: true });
  await writeFile(join(folder, 'permissions.yaml'), permissions);
  const file = await runWarm(['doctor', '--project', join(folder, 'permissions.yaml')]);
  expect([file.code, file.stderr]).toEqual([2, expect.stringContaining('permissions.yaml" is no folder.')]);
});

it('makes no database where a command only asks, and none is there', async () => {
  const empty = await mkdtemp(join(folder, 'empty-'));
  const ends: Readonly<Record<string, number>> = {
    check: 2,
    'generate --check': 2,
    'can public read books 1': 2,
    'explain /items/books --as public': 2,
    'diff work database': 2,
    doctor: 1,
    'permissions matrix': 3,
    'permissions diff': 3,
    'migrate --status': 3,
    'users list': 3,
  };
  for (const [command, exit] of Object.entries(ends)) {
    const { code, stderr } = await runWarm([...command.split(' '), '--project', empty]);
    expect(stderr, command).toContain('There is no database to ask: DATABASE_URL is not set');
    expect(stderr, command).toContain('Set DATABASE_URL');
    expect(code, command).toBe(exit);
    expect(await readdir(empty), command).toEqual([]);
  }
}, 60_000);

it('pulls the schema of another database and tells what is new in it', async () => {
  const staging = await createDatabase('CREATE TABLE books (id int PRIMARY KEY, title text NOT NULL, pages int)');
  try {
    const { code, stderr } = await platform('schema', 'pull', '--from', staging.url);
    expect(code).toBe(0);
    expect(stderr).toContain('column public.books.title: Its type was character varying(40) and is text.');
    expect((await verdicts('--offline')).found).toEqual(['column public.books.title']);
  } finally {
    await staging.drop();
  }
}, 60_000);

async function alter(sql: string): Promise<void> {
  await withClient(database.url, (client) => client.query(sql));
}

it('names rights to call functions, functions, members of composite types, and whom policies bind', async () => {
  const project = await mkdtemp(join(tmpdir(), 'platform-check-'));
  const shop = await createDatabase(`CREATE TYPE place AS (city text);
    CREATE TABLE shops (id int PRIMARY KEY, place place);
    ALTER TABLE shops ENABLE ROW LEVEL SECURITY;
    CREATE FUNCTION refund(shop int) RETURNS int LANGUAGE sql STABLE AS 'SELECT shop'`);
  const run = (...args: readonly string[]) => runWarm([...args, '--project', project], { DATABASE_URL: shop.url });
  const configure = (functions: string) =>
    writeFile(join(project, 'platform.config.mjs'), `export default { functions: ${functions} };\n`);
  const allow = (calls: string) =>
    writeFile(
      join(project, 'permissions.yaml'),
      `roles: { clerk: {} }\npermissions: { clerk: { shops: { read: true } } }\n${calls}`,
    );
  const offline = async (): Promise<readonly string[]> => verdictsOf(await run('check', '--json', '--offline')).found;
  const calls = 'functions: { clerk: { refund: { args: { shop: 1 } } } }\n';
  try {
    await Promise.all([configure('{ refund: {} }'), allow(calls)]);
    expect(await run('generate')).toMatchObject({ code: 0 });
    expect(await offline()).toEqual([]);
    await allow(calls.replace('shop: 1', 'shop: 2'));
    expect(await offline()).toEqual(['rule clerk call refund', 'rule clerk call refund']);
    await allow('');
    expect(await offline()).toEqual(['rule clerk call refund', 'rule clerk call refund']);
    await Promise.all([configure('{ refund: { name: "repay" } }'), allow(calls.replace('refund', 'repay'))]);
    const renamed = ['rule clerk call refund', 'rule clerk call repay'];
    expect(await offline()).toEqual([...renamed, 'function refund', 'function repay', ...renamed]);
    await Promise.all([configure('{ refund: {} }'), allow(calls)]);
    await withClient(shop.url, (client) => client.query('ALTER TYPE place ADD ATTRIBUTE street text'));
    const live = await run('check', '--json');
    expect(verdictsOf(live).found).toEqual(['column public.shops.place', 'column public.shops.place']);
    expect(live.stdout).toContain('Its members are city text, street text, compiled as city text.');
    await configure('{ refund: {} }, database: { rowSecurity: false }');
    const unbound = await run('check', '--json');
    expect(unbound.stdout).toContain('Policies do not bind the role of the connection, unlike what was compiled.');
    expect(unbound.stdout).not.toContain('switched');
  } finally {
    await Promise.all([shop.drop(), rm(project, { recursive: true, force: true })]);
  }
}, 60_000);

describe.each([
  ['atlas', null],
  ['magazine', 'database.postgres.sql'],
  ['tenants', 'database.sql'],
])('the project %s, whose configuration says more', (name, tables) => {
  it('fits itself once it is generated', async () => {
    const source = join(import.meta.dirname, '../../fixtures', name);
    const project = await mkdtemp(join(tmpdir(), 'platform-check-'));
    const own = await createDatabase('');
    const run = (...args: readonly string[]) => runWarm([...args, '--project', project], { DATABASE_URL: own.url });
    try {
      await cp(source, project, { recursive: true });
      expect(await run('migrate')).toMatchObject({ code: 0 });
      if (tables !== null) {
        const sql = await readFile(join(source, tables), 'utf8');
        await withClient(own.url, (client) => client.query(sql));
      }
      expect(await run('generate')).toMatchObject({ code: 0 });
      const { code, stdout } = await run('check', '--json');
      expect(stdout).not.toContain('"verdict":"differs"');
      expect(code).toBe(0);
    } finally {
      await Promise.all([own.drop(), rm(project, { recursive: true, force: true })]);
    }
  });
});
