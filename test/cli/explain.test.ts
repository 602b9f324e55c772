/** What people ask about rules: who may do what, which rule decides, and what becomes of a request. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import type { CommandResult } from '../support/platform.ts';
import { runWarm } from '../support/warm-command.ts';

// Several starts of the command each.
vi.setConfig({ testTimeout: 120_000 });

const sql = `
CREATE TABLE authors (id int PRIMARY KEY, name text NOT NULL, email text);
CREATE TABLE articles (id int PRIMARY KEY, title text NOT NULL, status text, author_id int REFERENCES authors);
CREATE TABLE comments (id int PRIMARY KEY, article_id int REFERENCES articles, body text);
CREATE TABLE loans (book int, since date, PRIMARY KEY (book, since));
CREATE TABLE events (what text);
CREATE TABLE site (id int PRIMARY KEY);
CREATE TABLE stays (id int PRIMARY KEY, days daterange NOT NULL);
CREATE INDEX ON articles (status);
INSERT INTO authors VALUES (7, 'Ann', 'ann@example.com');
INSERT INTO articles VALUES (1, 'One', 'published', 7), (2, 'Two', 'draft', 7), (3, 'Three', 'draft', NULL);
INSERT INTO comments VALUES (900, NULL, 'short');
`;
const permissions = `roles:
  writer: { description: Writes }
permissions:
  public:
    articles:
      read: { fields: [id, title], filter: { status: published } }
  writer:
    articles:
      read: true
      update:
        - { fields: [title], filter: { author_id: { _eq: $CURRENT_USER }, status: draft }, presets: { status: draft } }
        - { fields: [title], filter: { status: broken } }
    comments: { read: true, create: true, update: { fields: [body], filter: { body: short } } }
    authors: { read: { fields: [id, name] }, create: { fields: [id, name], presets: { email: $CURRENT_USER } } }
    events: { read: true, create: true }
    stays: { create: true, update: true }
`;

let folder: string;
let database: TestDatabase;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-explain-'));
  database = await createDatabase(sql);
  await writeFile(join(folder, 'permissions.yaml'), permissions);
  const user = '{ database: { url: process.env.DATABASE_URL }, collections: { site: { singleton: true } } }';
  await writeFile(join(folder, 'platform.config.mjs'), `export default ${user};\n`);
  expect((await platform('introspect')).code).toBe(0);
});
afterAll(() => Promise.all([database?.drop(), rm(folder, { recursive: true, force: true })]));

function platform(...args: readonly string[]): Promise<CommandResult> {
  return runWarm([...args, '--project', folder], { DATABASE_URL: database.url });
}

it('prints the table of rights, writes it, and tells when it is out of date', async () => {
  const printed = await platform('permissions', 'matrix', '--format', 'csv');
  expect(printed.code).toBe(0);
  expect(printed.stdout).toContain('public,articles,read,id,"status _eq ""published""",\n');
  expect((await platform('permissions', 'matrix', '--output', 'rights.md')).code).toBe(0);
  expect(await readFile(join(folder, 'rights.md'), 'utf8')).toContain('| `title` | `r1` | `r u2,3` |');
  expect((await platform('permissions', 'matrix', '--output', 'rights.md', '--check')).code).toBe(0);
  const rights = await readFile(join(folder, 'rights.md'), 'utf8');
  await writeFile(join(folder, 'rights.md'), rights.replaceAll('\n', '\r\n'));
  expect((await platform('permissions', 'matrix', '--output', 'rights.md', '--check')).code).toBe(0);
  await writeFile(join(folder, 'rights.md'), rights);
  await writeFile(join(folder, 'permissions.yaml'), permissions.replace('[id, title], filter', '[id], filter'));
  const changed = await platform('permissions', 'matrix', '--output', 'rights.md', '--check');
  expect(changed.code).toBe(1);
  expect(changed.stderr).toContain('- | `title` | `r1` | `r u2,3` |');
  await writeFile(join(folder, 'permissions.yaml'), permissions);
  const nowhere = await platform('permissions', 'matrix', '--output', 'no/such/folder.md');
  expect(nowhere.stderr).toContain('The file of --output cannot be written: ENOENT');
  expect(nowhere.code).toBe(2);
});

it('tables no relation whose items a role cannot reach', async () => {
  const rules = `permissions:
  public: { articles: { read: true, create: true, update: true } }
  writer: { articles: { read: true, create: true, update: true }, comments: { read: true } }
  poster: { articles: { read: true, create: true, update: true }, comments: { create: true } }
`;
  const roles = 'roles: { writer: {}, poster: {} }\n';
  await writeFile(join(folder, 'permissions.yaml'), roles + rules);
  const text = (await platform('permissions', 'matrix')).stdout.split('\n');
  const list = (await platform('permissions', 'matrix', '--format', 'csv')).stdout;
  await writeFile(join(folder, 'permissions.yaml'), permissions);
  const line = (name: string) => text.find((row) => row.trim().startsWith(name))?.trim();
  // The role reads the column of a foreign key, although it may not read the items that this leads to.
  expect(line('author_id')).toMatch(/^author_id +r c u +r c u +r c u$/);
  expect(line('comments ')).toMatch(/^comments +- +c u +r$/);
  expect(list.match(/^.*,comments,.*$/gm)?.filter((row) => row.includes(',articles,'))).toEqual([
    'poster,articles,create,comments,,',
    'poster,articles,update,comments,,',
    'writer,articles,read,comments,,',
  ]);
});

it('shows names that would move the cursor as what they are', async () => {
  const hostile = permissions.replace('roles:\n', 'roles:\n  "red\\e[31m\\n": {}\n');
  await writeFile(join(folder, 'permissions.yaml'), hostile);
  const can = await platform('can', 'red\u001b[31m\n', 'read', 'articles');
  const explained = await platform('explain', 'GET /items/articles', '--as', 'red\u001b[31m\n', '--offline');
  const unknown = await platform('can', 'x', 'read', 'articles');
  await writeFile(join(folder, 'permissions.yaml'), permissions);
  expect([can.code, explained.code]).toEqual([1, 1]);
  expect(unknown.stderr).toMatch(
    /There is no role "x"\.\s+Roles are admin, public, red\\u\{1b\}\[31m\\u\{a\}, writer\./,
  );
  expect(can.stderr).toContain('No: red\\u{1b}[31m\\u{a} may not read articles.');
  expect(can.stderr + explained.stderr + unknown.stderr).not.toContain('\u001b');
});

describe('platform can', () => {
  it('tells the rules of an action', async () => {
    const { code, stderr } = await platform('can', 'writer', 'update', 'articles');
    expect(code).toBe(0);
    expect(stderr).toContain('Yes: writer may update articles.');
    expect(stderr).toContain('rows: author_id _eq $CURRENT_USER and status _eq "draft"');
    expect(stderr).toContain('sets status to "draft"');
    const refused = await platform('can', 'public', 'delete', 'articles');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('No rule of public is about delete of articles.');
  });

  it('judges one item, part by part', async () => {
    const own = await platform('can', 'writer', 'update', 'articles', '2', '--user', '7');
    expect(own.stderr).toContain('rule 1: it allows this item');
    expect(own.stderr).toContain('rule 2: it does not reach this item');
    expect(own.code).toBe(0);
    const foreign = await platform('can', 'writer', 'update', 'articles', '3', '--user', '7');
    expect(foreign.stderr).toContain('does not hold: author_id _eq $CURRENT_USER');
    expect(foreign.stderr).not.toContain('does not hold: status _eq "draft"');
    expect(foreign.code).toBe(1);
  });

  it('says no to what nobody can do, and to rules that do not count for the caller', async () => {
    const keyless = await platform('can', 'writer', 'create', 'events');
    expect(keyless.stderr).toContain('No role may: "events" has no key: it can only be listed.');
    const ranged = await platform('can', 'writer', 'create', 'stays');
    expect(ranged.stderr).toContain('No role may: "days" must be given, and no request writes its type.');
    expect([ranged.code, (await platform('can', 'writer', 'update', 'stays')).code]).toEqual([1, 0]);
    const nobody = await platform('can', 'writer', 'create', 'authors');
    expect(nobody.stderr).toContain('does not count: a value that it sets needs a user or a role');
    const somebody = await platform('can', 'writer', 'create', 'authors', '--user', '7');
    expect([keyless.code, nobody.code, somebody.code]).toEqual([1, 1, 0]);
  });

  it('ends with 2 for what does not exist', async () => {
    const role = await platform('can', 'writr', 'read', 'articles');
    expect(role.stderr).toContain('Did you mean "writer"?');
    const item = await platform('can', 'writer', 'read', 'articles', '99');
    expect(item.stderr).toContain('There is no item "99" in articles.');
    const word = await platform('can', 'writer', 'update', 'articles', 'two');
    expect(word.stderr).toContain('There is no item "two" in articles.');
    const pair = await platform('can', 'public', 'read', 'loans', '1');
    expect(pair.stderr).toContain('A key is a value for each of book, since, with commas between.');
    const unkeyed = await platform('can', 'admin', 'read', 'events', '1');
    expect(unkeyed.stderr).toContain('"events" has no key: it can only be listed.');
    const single = await platform('can', 'admin', 'read', 'site', '1');
    expect(single.stderr).toContain('"site" is a singleton: there is one object, without a key.');
    expect([role, item, word, pair, unkeyed, single].map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 2]);
  });
});

describe('platform explain', () => {
  it('tells rules, statement, parameters, plan and the index that is missing', async () => {
    const request = 'GET /items/articles?fields=title,comments.body&filter[status][_eq]=draft';
    const { code, stderr } = await platform('explain', request, '--as', 'writer');
    expect(code).toBe(0);
    expect(stderr).toContain('comments[]');
    expect(stderr).toContain('= "draft"');
    expect(stderr).toMatch(/SELECT/);
    expect(stderr).toMatch(/Scan .*on .*articles/);
    expect(stderr).toMatch(/public\.comments: .*; consider one on \(article_id\)/);
    expect(stderr).not.toContain('public.articles: ');
  });

  it('measures with --analyze, and needs no database with --offline', async () => {
    const { stdout } = await platform('explain', '/items/articles', '--as', 'public', '--analyze', '--json');
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.find(({ event }) => event === 'plan').lines.join('\n')).toContain('actual time');
    expect(events.find(({ event }) => event === 'read')).toMatchObject({
      collection: 'articles',
      accessClass: 'public',
    });
    const nowhere = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere' };
    const args = ['explain', '/items/articles', '--as', 'public', '--offline', '--project', folder];
    expect((await runWarm(args, nowhere)).code).toBe(0);
  });

  it('asks for an item that is named by its key', async () => {
    const read = await platform('explain', 'GET /items/articles/1', '--as', 'public');
    expect(read.stderr).toContain('rule 1: it allows this item');
    const refused = await platform('explain', 'GET /items/articles/2', '--as', 'public');
    expect(refused.stderr).toContain('Rule 1 for reading articles would grant it, but does not reach the row.');
    expect(refused.stderr).toContain('does not hold: status _eq "published"');
    const unasked = await platform('explain', 'GET /items/articles/2', '--as', 'public', '--offline');
    expect([read.code, refused.code, unasked.code]).toEqual([0, 1, 0]);
  });

  it('has the limits of the environment', async () => {
    const args = ['explain', 'GET /items/articles?limit=6', '--as', 'public', '--offline', '--project', folder];
    const { code, stderr } = await runWarm(args, { DATABASE_URL: database.url, QUERY_LIMIT_MAX: '5' });
    expect(stderr).toContain('refused  INVALID_QUERY');
    expect(code).toBe(1);
  });

  it('gives the reason of a refusal', async () => {
    const target = '/items/articles?fields=id,author_id.email';
    const { code, stderr } = await platform('explain', `GET ${target}`, '--as', 'writer', '--offline');
    expect(stderr).toContain('refused  FORBIDDEN');
    expect(stderr).toContain('No rule grants reading email of authors.');
    expect(code).toBe(1);
    expect((await platform('explain', 'POST /server/ping', '--as', 'writer')).code).toBe(2);
    expect((await platform('explain', 'GET /users/me', '--as', 'writer')).code).toBe(2);
    expect((await platform('explain', 'GET /items/articles', '--as', 'writer', '--rehearse')).code).toBe(2);
    for (const option of ['--rehearse', '--analyze']) {
      const call = await platform('explain', 'POST /functions/twice', '--as', 'writer', option);
      expect([call.code, call.stderr]).toEqual([2, expect.stringContaining('A call is planned, and never run.')]);
    }
    const measured = ['GET /items/articles', '--as', 'writer', '--offline', '--analyze'];
    expect((await platform('explain', ...measured)).code).toBe(2);
    for (const args of [['GET /items/platform_users'], ['POST /items/platform_users', '--data', '{"id":1}']]) {
      const own = await platform('explain', ...args, '--as', 'admin', '--offline');
      expect([own.code, own.stderr]).toEqual([1, expect.stringContaining('System collections are not below /items')]);
    }
  });
});

describe('platform explain of a write', () => {
  const rows = (table: string): Promise<readonly unknown[]> =>
    withClient(database.url, async (client) => (await client.query(`SELECT * FROM ${table} ORDER BY id`)).rows);

  it('tells the rules, and the statements as far as no answer is needed, with their plans', async () => {
    const before = await rows('articles');
    const request = 'PATCH /items/articles/2?fields=title';
    const asked = ['--as', 'writer', '--user', '7', '--data', '{"title":"Zwei"}'];
    const { code, stderr } = await platform('explain', request, ...asked);
    expect(code).toBe(0);
    expect(stderr).toContain('rules    of writer for changing articles');
    expect(stderr).toContain('rule 1: it allows this item');
    expect(stderr).toContain('rule 2: it does not reach this item');
    expect(stderr).toContain('sets status to "draft"');
    expect(stderr).toMatch(/UPDATE "public"\."articles"/);
    expect(stderr).toMatch(/Update on .*articles/);
    expect(stderr).toContain('= "Zwei"');
    expect(await rows('articles')).toEqual(before);
    expect((await platform('explain', request, ...asked, '--offline')).code).toBe(0);
  });

  it('runs all of it in a transaction that is taken back, with --rehearse', async () => {
    const before = [await rows('articles'), await rows('comments')];
    const body = '[{"id":1,"body":"a","article_id":1},{"id":2,"body":"b"}]';
    const asked = ['explain', 'POST /items/comments?fields=id,body', '--as', 'writer', '--data', body];
    const { stdout, code } = await platform(...asked, '--rehearse', '--json');
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(code).toBe(0);
    expect(events.find(({ event }) => event === 'write')).toMatchObject({
      ...{ action: 'create', collection: 'comments', complete: true, rehearsed: true },
      answer: {
        data: [
          { id: 1, body: 'a' },
          { id: 2, body: 'b' },
        ],
      },
    });
    expect(events.filter(({ event }) => event === 'plan').length).toBeGreaterThan(0);
    const broken = await platform(...asked.slice(0, 5), '{"id":3,"article_id":99}', '--rehearse');
    const [, reason = ''] = /refused {2}FAILED_VALIDATION: (.*article_id.*)/.exec(broken.stderr) ?? [];
    expect(broken.stderr.split(reason)).toHaveLength(2);
    expect(broken.code).toBe(1);
    expect([await rows('articles'), await rows('comments')]).toEqual(before);
  });

  it('gives the reason of a refusal', async () => {
    const explained = async (...args: readonly string[]) =>
      (await platform('explain', ...args, '--as', 'writer')).stderr;
    const field = await explained('PATCH /items/articles/2', '--data', '{"author_id":1,"title":"x"}', '--offline');
    expect(field).toContain('No rule grants changing author_id of articles.');
    expect(field).toContain('does not grant: author_id');
    expect(await explained('DELETE /items/articles/2', '--offline')).toContain('No rule grants deleting articles.');
    const row = ['PATCH /items/articles/3', '--user', '7', '--data', '{"title":"x"}', '--rehearse'];
    const refused = await explained(...row);
    expect(refused).toContain('Rule 1 for changing articles would grant it, but does not reach the rows.');
    expect(refused).toContain('does not hold: author_id _eq $CURRENT_USER');
    const written = await explained('PATCH /items/comments/900', '--data', '{"body":"long"}', '--rehearse');
    expect(written).toContain('rule 1: it allows this item');
    expect(written).toContain(
      'Rule 1 for changing comments would grant it, but the rows as they are written do not meet its condition.',
    );
    const missing = await explained('PATCH /items/articles/99', '--data', '{"title":"x"}', '--rehearse');
    expect(missing).toContain('administrators are refused, too');
  });
});

it('names the hooks that a write would run, in their order, and runs none', async () => {
  const extension = (register: string): string =>
    `import { defineExtension } from '../generated/extension.js';\nthrow new Error('run');\nexport default defineExtension(${register});\n`;
  await mkdir(join(folder, 'extensions'));
  const [first, second] = [join(folder, 'extensions/a.ts'), join(folder, 'extensions/b.ts')];
  await writeFile(
    first,
    extension(
      "({ before, after: then }) => {\n  then('comments.create', () => {});\n  before('comments.create', () => {});\n  before('comments.update', () => {});\n  before('gone.create', () => {});\n}",
    ),
  );
  await writeFile(second, extension("(tools) => tools.before('comments.create', () => {})"));
  const request = ['POST /items/comments?on_conflict=id', '--as', 'writer', '--data', '{"id":1}'];
  const { stderr } = await platform('explain', ...request);
  const { stdout } = await platform('explain', ...request, '--offline', '--json');
  const read = await platform('explain', 'GET /items/comments', '--as', 'writer');
  await rm(join(folder, 'extensions'), { recursive: true });
  expect(stderr.split('\n').filter((line) => / at extensions\//.test(line))).toEqual([
    '           before comments.create at extensions/a.ts:5:3',
    '           before comments.create at extensions/b.ts:3:43',
    '           after comments.create at extensions/a.ts:4:3',
    '           before comments.update at extensions/a.ts:6:3',
  ]);
  const told = stdout.split('\n').find((line) => line.includes('"hooks"')) ?? '{}';
  expect(JSON.parse(told).hooks).toEqual([
    'before comments.create',
    'before comments.create',
    'after comments.create',
    'before comments.update',
  ]);
  expect([read.code, read.stderr.includes('hooks')]).toEqual([0, false]);
});
