/** Enums of GraphQL on every server: read, compared, written, and hidden with the columns that have them. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { startHosted } from '../support/host.ts';
import { createMysqlDatabase } from '../support/mariadb.ts';
import { createProject, type Platform } from '../support/platform.ts';
import { servers } from '../support/servers.ts';

const postgres = `CREATE TYPE article_status AS ENUM ('draft', 'published');
  CREATE TYPE odd AS ENUM ('fine', 'not fine');
  CREATE TYPE mood AS ENUM ('calm', 'loud');
  CREATE TABLE articles (id integer PRIMARY KEY, title varchar(40), status article_status NOT NULL DEFAULT 'draft',
    odd odd, moods mood[], kind text CHECK (kind IN ('long', 'short')));
  CREATE TABLE notes (id integer PRIMARY KEY, status article_status, article integer REFERENCES articles);
  CREATE TABLE states (status article_status PRIMARY KEY, name varchar(40));
  CREATE TABLE events (id integer PRIMARY KEY, state article_status REFERENCES states);
  CREATE FUNCTION titles(wanted article_status) RETURNS SETOF varchar STABLE LANGUAGE sql
    AS 'SELECT title FROM articles WHERE status = wanted ORDER BY id';`;
const mysql = (exact: string) => `
  CREATE TABLE articles (id int PRIMARY KEY, title varchar(40), status enum('draft', 'published') NOT NULL DEFAULT 'draft',
    odd enum('fine', 'not fine'), kind varchar(10) COLLATE ${exact} CHECK (kind IN ('long', 'short')));
  CREATE TABLE notes (id int PRIMARY KEY, status enum('draft', 'published'), article int, FOREIGN KEY (article) REFERENCES articles (id));`;
const rows = `
  INSERT INTO articles (id, title, status, odd, kind) VALUES (1, 'one', 'draft', 'not fine', 'long'), (2, 'two', 'published', 'fine', 'short');
  INSERT INTO notes VALUES (1, 'published', 1), (2, 'draft', 2);`;

const worlds = [
  { name: 'PostgreSQL', missing: false, open: async () => (await createDatabase(postgres + rows)).url },
  ...servers.map(({ name, missing, start, exact }) => ({
    name,
    missing,
    open: async () => createMysqlDatabase(await start(), mysql(exact) + rows),
  })),
];

describe.each(worlds)('$name', ({ name, missing, open }) => {
  if (missing) return void it.skip('skipped: the server is not there');
  const onPostgres = name === 'PostgreSQL';
  const type = onPostgres ? 'article_status_enum' : 'articles_status_enum';

  let project: Awaited<ReturnType<typeof createProject>>;
  let platform: Platform;
  beforeAll(async () => {
    project = await createProject();
    const functions = onPostgres ? 'functions: { titles: {} },' : '';
    await writeFile(
      join(project.folder, 'platform.config.ts'),
      `import { defineConfig } from 'tablewright/config';\nexport default defineConfig({ ${functions} graphql: { enums: 'all' } });\n`,
    );
    await writeFile(
      join(project.folder, 'permissions.yaml'),
      'permissions:\n  public:\n    articles: { read: { fields: [id, title] } }\n    notes: { create: { fields: [id, article] } }\n',
    );
    platform = await startHosted(project.folder, await open());
  });
  afterAll(async () => {
    await platform?.stop();
    await project?.remove();
  });

  async function ask(query: string, variables: object = {}, as: Platform['ask'] = platform.admin) {
    const { json } = await as('/graphql', { method: 'POST', body: { query, variables } });
    return json.errors === undefined ? json.data : `${json.errors[0].extensions.code}: ${json.errors[0].message}`;
  }

  it('are read as over REST', async () => {
    const read = '{ articles(sort: "id") { id status odd kind } notes(sort: "id") { status article { status } } }';
    const data = await ask(read);
    const rest = await platform.admin('/items/articles?fields=id,status,odd,kind&sort=id');
    expect(data.articles).toEqual(rest.json.data);
    expect(data.notes[0]).toEqual({ status: 'published', article: { status: 'draft' } });
  });

  it('are types of the schema, with their labels', async () => {
    const read = `{ __type(name: "articles") { fields { name type { name kind ofType { name kind } } } }
      enum: __type(name: "${type}") { kind enumValues { name } } }`;
    const data = await ask(read);
    const field = (wanted: string) => data.__type.fields.find((found: { name: string }) => found.name === wanted).type;
    expect(field('status')).toEqual({ name: null, kind: 'NON_NULL', ofType: { name: type, kind: 'ENUM' } });
    expect(field('kind')).toMatchObject({ name: 'articles_kind_enum', kind: 'ENUM' });
    expect(field('odd')).toMatchObject({ name: 'String', kind: 'SCALAR' });
    expect(data.enum).toEqual({ kind: 'ENUM', enumValues: [{ name: 'draft' }, { name: 'published' }] });
  });

  it('are compared as literals and variables', async () => {
    expect(await ask('{ articles(filter: { status: { _eq: published } }) { id } }')).toEqual({ articles: [{ id: 2 }] });
    const query = `query ($is: ${type}!, $in: [${type}!]) {
      articles(filter: { status: { _neq: $is }, kind: { _in: [long] } }) { id }
      notes(filter: { article: { status: { _in: $in } } }) { id }
    }`;
    const found = { articles: [{ id: 1 }], notes: [{ id: 1 }] };
    expect(await ask(query, { is: 'published', in: ['draft'] })).toEqual(found);
    expect(
      await ask(`query ($f: articles_filter) { articles(filter: $f) { id } }`, { f: { status: { _eq: 'draft' } } }),
    ).toEqual({
      articles: [{ id: 1 }],
    });
  });

  it('are refused with another label, without repeating it', async () => {
    const wrong = `INVALID_QUERY: The value does not exist in "${type}" enum.`;
    expect(await ask('{ articles(filter: { status: { _eq: secret } }) { id } }')).toBe(wrong);
    expect(await ask('{ articles(filter: { status: { _eq: "draft" } }) { id } }')).toBe(
      `INVALID_QUERY: Enum "${type}" cannot represent non-enum value.`,
    );
    const query = `query ($is: ${type}) { articles(filter: { status: { _eq: $is } }) { id } }`;
    const told = await ask(query, { is: 'secret' });
    expect(told).toMatch(/^INVALID_QUERY: /);
    expect(told).toContain(`does not exist in "${type}" enum`);
    expect(told).not.toContain('secret');
  });

  it('are written, and left to their default', async () => {
    const create = `mutation ($data: create_articles_input!) { create_articles_item(data: $data) { id status kind } }`;
    expect(await ask(create, { data: { id: 10, kind: 'short' } })).toEqual({
      create_articles_item: { id: 10, status: 'draft', kind: 'short' },
    });
    expect(await ask('mutation { update_articles_item(id: 10, data: { status: published }) { status } }')).toEqual({
      update_articles_item: { status: 'published' },
    });
    expect(await ask('mutation { update_articles_item(id: 10, data: { status: other }) { status } }')).toMatch(
      /^INVALID_QUERY/,
    );
    await ask('mutation { delete_articles_item(id: 10) { id } }');
  });

  it('group aggregates, and are their least values', async () => {
    const read = `{ articles_aggregated(groupBy: ["status"], sort: "status") { group countAll } }`;
    expect(await ask(read)).toEqual({
      articles_aggregated: [
        { group: { status: 'draft' }, countAll: 1 },
        { group: { status: 'published' }, countAll: 1 },
      ],
    });
  });

  it('are unknown to a role that sees no column of them', async () => {
    const { text } = await platform.ask('/graphql', {
      method: 'POST',
      body: { query: '{ __schema { types { name } } }' },
    });
    expect(text).not.toContain(type);
    expect(text).not.toContain('articles_kind_enum');
    const hidden = await ask(`query ($is: ${type}) { articles { id } }`, {}, platform.ask);
    const unknown = await ask('query ($is: no_such_enum) { articles { id } }', {}, platform.ask);
    expect(hidden).toBe(unknown.replace('no_such_enum', type));
  });

  it('name the unions of generated types', async () => {
    const client = (path: string) => readFile(join(project.folder, 'generated', path), 'utf8');
    const item = await client('client/admin/collections/articles.d.ts');
    const named = onPostgres ? 'ArticleStatus' : 'ArticlesStatusValue';
    const declared = onPostgres ? await client('client/admin/enums.d.ts') : item;
    expect(declared).toContain(`export type ${named} = 'draft' | 'published';`);
    expect(item).toContain(`  status: ${named};`);
    expect(item).toContain("export type ArticlesKindValue = 'long' | 'short';");
    expect(await client('collections/articles.d.ts')).toContain(`  status?: ${named};`);
    expect(await client('client/public/index.d.ts')).not.toContain('enums');
  });

  if (!onPostgres) return;

  it('are elements of arrays, keys, and arguments of functions', async () => {
    const write = 'mutation { update_articles_item(id: 1, data: { moods: [loud, calm] }) { moods } }';
    expect(await ask(write)).toEqual({ update_articles_item: { moods: ['loud', 'calm'] } });
    expect(await ask('{ articles(filter: { moods: { _has: loud } }) { id } }')).toEqual({
      articles: [{ id: 1 }],
    });
    await ask('mutation { create_states_item(data: { status: draft, name: "D" }) { name } }');
    await ask('mutation { create_events_item(data: { id: 1, state: { status: draft } }) { id } }');
    const read =
      '{ events(filter: { state: { _eq: draft, name: { _eq: "D" } } }) { state { status name } } states_by_id(id: "draft") { status } }';
    expect(await ask(read)).toEqual({
      events: [{ state: { status: 'draft', name: 'D' } }],
      states_by_id: { status: 'draft' },
    });
    expect(await ask('{ titles(wanted: published) }')).toEqual({ titles: ['two'] });
  });
});
