/** Fields that functions of a row compute: read as columns are, never written, and closed to those who may not read them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { typeCheck } from '../support/type-check.ts';
import { runWarm } from '../support/warm-command.ts';

const roles = { editor: 'a1', reader: 'a2', scorer: 'a3', checker: 'a4', partial: 'a5' } as const;
type Role = keyof typeof roles;

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    system: true,
    sql: `CREATE TABLE authors (id integer PRIMARY KEY, name text NOT NULL, secret text);
      CREATE TABLE articles (id integer PRIMARY KEY, title text NOT NULL, author integer REFERENCES authors,
        votes integer NOT NULL DEFAULT 0, t0 integer DEFAULT 7, deleted_at timestamptz);
      CREATE TABLE comments (id integer PRIMARY KEY, article integer NOT NULL REFERENCES articles, body text);
      CREATE TABLE tags (id integer PRIMARY KEY, name text);
      CREATE TABLE article_tags (article integer REFERENCES articles, tag integer REFERENCES tags, PRIMARY KEY (article, tag));
      CREATE FUNCTION article_score(a articles) RETURNS integer LANGUAGE sql STABLE AS $$
        SELECT a.votes * 10 + (SELECT count(*)::integer FROM public.comments AS c WHERE c.article = a.id) $$;
      CREATE FUNCTION label(articles) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT $1.title || '#' || $1.id $$;
      CREATE FUNCTION label(authors) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT $1.name || ': ' || $1.secret $$;
      CREATE FUNCTION ratio(a articles) RETURNS numeric LANGUAGE plpgsql STABLE AS $$
        BEGIN RETURN 100 / (a.votes - 9); EXCEPTION WHEN division_by_zero THEN RAISE EXCEPTION 'secret %', a.title; END $$;
      CREATE FUNCTION tag_size(t tags) RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT length(t.name) $$;
      CREATE FUNCTION note() RETURNS integer LANGUAGE sql VOLATILE AS $$
        INSERT INTO public.tags VALUES (99, 'written') RETURNING id $$;
      CREATE FUNCTION sly() RETURNS integer LANGUAGE sql STABLE AS $$ SELECT public.note() $$;
      CREATE FUNCTION sly_field(t tags) RETURNS integer LANGUAGE sql STABLE AS $$ SELECT public.note() + t.id $$;
      CREATE FUNCTION bold_field(t tags) RETURNS integer LANGUAGE plpgsql STABLE AS $$
        BEGIN INSERT INTO public.tags VALUES (97, 'written'); RETURN 1; END $$;
      CREATE FUNCTION bold() RETURNS SETOF articles LANGUAGE plpgsql STABLE AS $$
        BEGIN INSERT INTO public.tags VALUES (98, 'written'); END $$;
      CREATE FUNCTION sly_rows() RETURNS SETOF articles LANGUAGE sql STABLE AS $$
        SELECT a.* FROM public.articles AS a WHERE public.note() > 0 $$;
      CREATE FUNCTION top_articles() RETURNS SETOF articles LANGUAGE sql STABLE AS $$
        SELECT * FROM public.articles ORDER BY votes DESC, id LIMIT 2 $$;`,
    config: `{
      collections: { articles: { softDelete: { field: 'deleted_at' } } },
      functions: {
        article_score: { field: 'articles.score' },
        'label(articles)': { field: 'articles.label' },
        'label(authors)': { field: 'authors.label' },
        ratio: { field: 'articles.ratio' },
        tag_size: { field: 'tags.size' },
        sly_field: { field: 'tags.sly' },
        bold_field: { field: 'tags.bold' },
        top_articles: {}, sly: {}, bold: {}, sly_rows: {},
      },
    }`,
    permissions: `roles: { editor: {}, reader: {}, scorer: {}, checker: {}, partial: {} }
permissions:
  editor:
    authors: { read: true, create: true, update: true }
    articles: { read: true, create: true, update: true, delete: true }
    comments: { read: true, create: true, update: true, delete: true }
    tags: { read: true, create: true, update: true }
    article_tags: { read: true, create: true, delete: true }
  reader:
    authors: { read: { fields: [id, name, articles] } }
    articles: { read: { fields: [id, title, author, tags] } }
    tags: { read: { fields: [id] } }
  scorer:
    articles: { read: { fields: [id, score], filter: { score: { _gte: 20 } } } }
  checker:
    articles:
      read: true
      create: { fields: ['*'], validation: { label: { _starts_with: a } } }
      update: { fields: ['*'], filter: { score: { _gte: 20 } }, validation: { score: { _lt: 100 } } }
      delete: { filter: { score: { _lt: 20 } } }
  partial:
    articles:
      read:
        - { fields: [id, title], filter: {} }
        - { fields: [id, score, label], filter: { votes: { _gte: 3 } } }
functions:
  editor: [top_articles, sly, bold, sly_rows]`,
  });
  for (const [name, id] of Object.entries(roles)) {
    const key = `00000000-0000-4000-8000-0000000000${id}`;
    await project.rows(`INSERT INTO platform.platform_roles (id, name) VALUES ('${key}', '${name}')`);
    await project.rows(
      `INSERT INTO platform.platform_users (id, email, role, token) VALUES ('${key}', '${name}@example.com', '${key}', '${tokenOf(name)}')`,
    );
  }
});
afterAll(() => project?.close());

beforeEach(async () => {
  for (const table of ['article_tags', 'tags', 'comments', 'articles', 'authors'])
    await project.rows(`DELETE FROM ${table}`);
  await project.rows("INSERT INTO authors VALUES (1, 'Ann', 'x'), (2, 'Ben', 'y')");
  await project.rows(`INSERT INTO articles (id, title, author, votes) VALUES
    (1, 'apple', 1, 1), (2, 'bread', 1, 2), (3, 'cream', 2, 3), (4, 'dough', NULL, 3)`);
  await project.rows("INSERT INTO comments VALUES (11, 1, 'a'), (12, 1, 'b'), (13, 2, 'c')");
  await project.rows("INSERT INTO tags VALUES (21, 'red'), (22, 'blue')");
  await project.rows('INSERT INTO article_tags VALUES (1, 21), (1, 22), (2, 22)');
});

function tokenOf(role: string): string {
  return `token-of-${role}-000000000000`;
}

const ask = (role: Role, path: string, method = 'GET', body?: unknown) =>
  project.ask(path, { token: tokenOf(role), method, ...(body !== undefined && { body }) });
const get = async (role: Role, path: string) => {
  const answer = await ask(role, path);
  return answer.status === 200 ? answer.json.data : failure(answer);
};
const graphql = async (role: Role, query: string) => {
  const answer = await ask(role, '/graphql', 'POST', { query });
  return answer.json.data ?? answer.json.errors.map(({ message }: { readonly message: string }) => message);
};
const ids = async (role: Role, path: string) => {
  const data = await get(role, path);
  return Array.isArray(data) ? data.map(({ id }: { readonly id: number }) => id) : data;
};

describe('a computed field', () => {
  it('is selected by its name, and not by *', async () => {
    expect(await get('editor', '/items/articles/1?fields=id,score,label')).toEqual({
      id: 1,
      score: 12,
      label: 'apple#1',
    });
    expect(Object.keys(await get('editor', '/items/articles/1'))).toEqual([
      ...['id', 'title', 'author', 'votes', 't0', 'deleted_at'],
      ...['article_tags', 'comments', 'tags'],
    ]);
    expect(await get('editor', '/items/articles?fields=*,score&limit=1')).toMatchObject([
      { id: 1, votes: 1, score: 12 },
    ]);
    expect(await get('editor', '/items/articles?fields=s&alias[s]=score&limit=1')).toEqual([{ s: 12 }]);
  });

  it('filters, sorts, pages and counts', async () => {
    expect(await ids('editor', '/items/articles?filter[score][_gt]=20')).toEqual([2, 3, 4]);
    expect(await ids('editor', '/items/articles?sort=-score,-label')).toEqual([4, 3, 2, 1]);
    const page = await ask('editor', '/items/articles?fields=id,score&sort=-score&limit=2&cursor=&meta=*');
    expect(page.json.data).toEqual([
      { id: 3, score: 30 },
      { id: 4, score: 30 },
    ]);
    expect(page.json.meta).toMatchObject({ total_count: 4, filter_count: 4 });
    const next = `/items/articles?fields=id,score&sort=-score&limit=2&cursor=${page.json.meta.next_cursor}`;
    expect(await ids('editor', next)).toEqual([2, 1]);
    expect((await ask('editor', '/items/articles?fields=id,score&filter[id][_eq]=2&export=csv')).text).toBe(
      'id,score\r\n2,21\r\n',
    );
  });

  it('is aggregated and grouped', async () => {
    expect(await get('editor', '/items/articles?aggregate[sum]=score&aggregate[max]=label')).toEqual([
      { sum: { score: 93 }, max: { label: 'dough#4' } },
    ]);
    expect(await get('editor', '/items/articles?groupBy=score&aggregate[count]=*&sort=-score&limit=1')).toEqual([
      { score: 30, count: 2 },
    ]);
    expect(
      await get('editor', '/items/authors?fields=id&deep[articles][_aggregate][max]=score&fields=articles'),
    ).toEqual([
      { id: 1, articles: [{ max: { score: 21 } }] },
      { id: 2, articles: [{ max: { score: 30 } }] },
    ]);
  });

  it('is read of related items, whichever way leads to them', async () => {
    expect(await get('editor', '/items/comments/13?fields=article.score,article.author.label')).toEqual({
      article: { score: 21, author: { label: 'Ann: x' } },
    });
    const path = '/items/authors/1?fields=articles.id,articles.score';
    expect(await get('editor', path)).toEqual({
      articles: [
        { id: 1, score: 12 },
        { id: 2, score: 21 },
      ],
    });
    expect(await get('editor', `${path}&deep[articles][_sort]=-score&deep[articles][_limit]=1`)).toEqual({
      articles: [{ id: 2, score: 21 }],
    });
    expect(await get('editor', `${path}&deep[articles][_filter][score][_lt]=20&deep[articles][_limit]=5`)).toEqual({
      articles: [{ id: 1, score: 12 }],
    });
    const tags = '/items/articles?fields=id,score,tags.size&sort=id&limit=2';
    const both = [
      { id: 1, score: 12, tags: [{ size: 3 }, { size: 4 }] },
      { id: 2, score: 21, tags: [{ size: 4 }] },
    ];
    expect(await get('editor', tags)).toEqual(both);
    expect(await get('editor', `${tags}&deep[tags][_sort]=size`)).toEqual(both);
    expect(await get('editor', `${tags}&deep[tags][_sort]=-size&deep[tags][_limit]=1`)).toEqual([
      { id: 1, score: 12, tags: [{ size: 4 }] },
      { id: 2, score: 21, tags: [{ size: 4 }] },
    ]);
    expect(await ids('editor', '/items/authors?filter[articles][score][_gt]=25')).toEqual([2]);
    expect(await ids('editor', '/items/comments?sort=-article.score,id')).toEqual([13, 11, 12]);
  });

  it('is read of the rows that a function gives', async () => {
    const top = await ask('editor', '/functions/top_articles?fields=id,score&filter[score][_gt]=20&meta=*');
    expect(top.json).toEqual({
      data: [
        { id: 3, score: 30 },
        { id: 4, score: 30 },
      ],
      meta: { total_count: 2, filter_count: 2 },
    });
    expect(await get('editor', '/functions/top_articles?fields=id,score&sort=-label&limit=1')).toEqual([
      { id: 4, score: 30 },
    ]);
  });

  it('is a field of GraphQL with filters, orders and aggregates', async () => {
    expect(
      await graphql(
        'editor',
        '{ articles(filter: { score: { _gt: 20 } }, sort: ["-score", "-id"]) { id score author { label } } }',
      ),
    ).toEqual({
      articles: [
        { id: 4, score: 30, author: null },
        { id: 3, score: 30, author: { label: 'Ben: y' } },
        { id: 2, score: 21, author: { label: 'Ann: x' } },
      ],
    });
    expect(await graphql('editor', '{ articles_aggregated { max { score } } }')).toEqual({
      articles_aggregated: [{ max: { score: 30 } }],
    });
  });

  it('is answered by writes, after them', async () => {
    const made = { id: 5, title: 'eclair', votes: 4, comments: [{ id: 15, body: 'd' }] };
    expect((await ask('editor', '/items/articles?fields=score,label', 'POST', made)).json.data).toEqual({
      score: 41,
      label: 'eclair#5',
    });
    const more = [
      { id: 6, title: 'f' },
      { id: 7, title: 'g', votes: 1 },
    ];
    expect((await ask('editor', '/items/articles?fields=score', 'POST', more)).json.data).toEqual([
      { score: 0 },
      { score: 10 },
    ]);
    const changed = { votes: 5, tags: [21] };
    expect((await ask('editor', '/items/articles/6?fields=score,tags.size', 'PATCH', changed)).json.data).toEqual({
      score: 50,
      tags: [{ size: 3 }],
    });
    const nested = { id: 3, name: 'Cid', articles: [{ id: 8, title: 'h', votes: 2 }] };
    expect((await ask('editor', '/items/authors?fields=label,articles.score', 'POST', nested)).json.data).toEqual({
      label: null,
      articles: [{ score: 20 }],
    });
    expect(await graphql('editor', 'mutation { update_articles_item(id: 6, data: { votes: 6 }) { score } }')).toEqual({
      update_articles_item: { score: 60 },
    });
  });

  it('cannot be written', async () => {
    const named = await ask('editor', '/items/articles/1', 'PATCH', { score: 3 });
    const generated = await ask('editor', '/items/articles/1', 'PATCH', { nothing: 3 });
    expect([named.status, failure(named)]).toEqual([generated.status, failure(generated)]);
    expect(failure(await ask('editor', '/items/articles', 'POST', { id: 9, title: 'x', score: 1 }))).toBe(
      '403 FORBIDDEN',
    );
    expect(
      await graphql('editor', 'mutation { create_articles_item(data: { id: 9, title: "x", score: 1 }) { id } }'),
    ).toEqual([expect.stringContaining('score')]);
  });
});

describe('rules on a computed field', () => {
  it('decide which rows are read', async () => {
    expect(await get('scorer', '/items/articles?fields=*,score')).toEqual([
      { id: 2, score: 21 },
      { id: 3, score: 30 },
      { id: 4, score: 30 },
    ]);
    expect(await get('partial', '/items/articles?fields=id,title,score,label&limit=3')).toEqual([
      { id: 1, title: 'apple', score: null, label: null },
      { id: 2, title: 'bread', score: null, label: null },
      { id: 3, title: 'cream', score: 30, label: 'cream#3' },
    ]);
    expect(await ids('partial', '/items/articles?filter[label][_contains]=r')).toEqual([3]);
    expect(await ids('partial', '/items/articles?filter[score][_lt]=25')).toEqual([]);
  });

  it('decide which rows are written, and how', async () => {
    expect((await ask('checker', '/items/articles', 'POST', { id: 5, title: 'anise' })).status).toBe(200);
    expect(failure(await ask('checker', '/items/articles', 'POST', { id: 6, title: 'basil' }))).toBe(
      '400 FAILED_VALIDATION',
    );
    const several = [
      { id: 6, title: 'anise' },
      { id: 7, title: 'basil' },
    ];
    expect(failure(await ask('checker', '/items/articles', 'POST', several))).toBe('400 FAILED_VALIDATION');
    expect(failure(await ask('checker', '/items/articles/1', 'PATCH', { votes: 3 }))).toBe('403 FORBIDDEN');
    expect((await ask('checker', '/items/articles/2?fields=score', 'PATCH', { votes: 3 })).json.data).toEqual({
      score: 31,
    });
    expect(failure(await ask('checker', '/items/articles/2', 'PATCH', { votes: 30 }))).toBe('400 FAILED_VALIDATION');
    const keys = { keys: [2, 3], data: { votes: 4 } };
    expect((await ask('checker', '/items/articles?fields=score', 'PATCH', keys)).json.data).toEqual([
      { score: 41 },
      { score: 40 },
    ]);
    const query = { query: { filter: { score: { _eq: 41 } } }, data: { votes: 5 } };
    expect((await ask('checker', '/items/articles?fields=id', 'PATCH', query)).json.data).toEqual([{ id: 2 }]);
    expect(failure(await ask('checker', '/items/articles/2', 'DELETE'))).toBe('403 FORBIDDEN');
    expect((await ask('checker', '/items/articles/1', 'DELETE')).status).toBe(204);
    expect(await ids('editor', '/items/articles?sort=score')).not.toContain(1);
    expect(await get('editor', '/items/articles?archived=only&fields=id,score')).toEqual([{ id: 1, score: 12 }]);
  });

  it('leaves no trace in revisions, as it is not stored', async () => {
    await ask('editor', '/items/articles/2', 'PATCH', { votes: 8 });
    const [row] = await project.rows(
      `SELECT r.data FROM platform.platform_revisions AS r WHERE r.collection = 'articles' AND r.item = '2' ORDER BY r.id DESC LIMIT 1`,
    );
    expect(row?.data).toMatchObject({ id: 2, votes: 8 });
    expect(row?.data).not.toHaveProperty('score');
  });
});

describe('a function that says that it only reads', () => {
  it.each(['/functions/sly', '/functions/bold', '/functions/sly_rows', '/functions/sly_rows?limit=-1&meta=*'])(
    'cannot write: %s',
    async (path) => {
      const refused = await ask('editor', path);
      expect(failure(refused)).toBe('422 UNPROCESSABLE_ENTITY');
      expect(refused.json.errors[0].message).toBe(
        'The function changes something although it is declared to read only.',
      );
      expect(await project.rows('SELECT id FROM tags WHERE id > 90')).toEqual([]);
    },
  );

  it.each([
    '/items/tags?fields=sly',
    '/items/tags?fields=bold',
    '/items/tags/21?fields=bold',
    '/items/tags?fields=id&filter[sly][_gt]=0',
    '/items/tags?fields=id&sort=bold&limit=-1',
    '/items/tags?aggregate[max]=sly',
    '/items/articles/1?fields=tags.sly',
    '/items/tags?fields=bold&export=csv',
  ])('cannot write as a field: %s', async (path) => {
    const refused = await ask('editor', path);
    expect([failure(refused), refused.json.errors[0].message]).toEqual([
      '400 INVALID_QUERY',
      'The function changes something although it is declared to read only.',
    ]);
    expect(await project.rows('SELECT id FROM tags WHERE id > 90')).toEqual([]);
  });

  it('is refused in the answer of a write, which is undone', async () => {
    const refused = await ask('editor', '/items/tags/21?fields=bold', 'PATCH', { name: 'other' });
    expect(failure(refused)).toBe('400 INVALID_QUERY');
    expect(await project.rows('SELECT name FROM tags WHERE id IN (21, 97)')).toEqual([{ name: 'red' }]);
    expect(await graphql('editor', '{ tags { bold } }')).toEqual([expect.stringContaining('declared to read only')]);
  });

  it('cannot write in GraphQL', async () => {
    const { json } = await ask('editor', '/graphql', 'POST', { query: '{ sly }' });
    expect([json.data, json.errors[0].message]).toEqual([
      { sly: null },
      expect.stringContaining('declared to read only'),
    ]);
    expect(await project.rows('SELECT id FROM tags WHERE id > 90')).toEqual([]);
  });
});

const code = `
import { createClient } from '../generated/client/editor/index.js';

export async function use(url: string, staticToken: string): Promise<unknown> {
  const client = createClient(url, { auth: { staticToken } });
  const [articles, authors] = [client.items('articles'), client.items('authors')];
  const first = await articles.readByQuery({ fields: ['id', 'score'], filter: { score: { _gt: 20 } }, sort: ['-score'] });
  const score: number | null | undefined = first.data[0]?.score;
  const named = await articles.readByQuery({ fields: ['s'], alias: { s: 'score' }, limit: 1 });
  const renamed: number | null | undefined = named.data[0]?.s;
  const author = await authors.readOne(1, { fields: ['articles.label'] });
  const labels = author.articles.map(({ label }): string | null => label);
  const all = await articles.readByQuery({ fields: ['*'], limit: 1 });
  // @ts-expect-error: * does not select it
  all.data[0]?.score;
  const rows = await articles.aggregate({ aggregate: { max: ['score'] }, groupBy: ['author'], sort: ['author'] });
  return [score, renamed, labels, rows.data[0]?.max.score];
}

export function refused(client: ReturnType<typeof createClient>): void {
  // @ts-expect-error: it is computed
  void client.items('articles').updateOne(1, { score: 1 });
}
`;

it('is typed in clients', async () => {
  const path = join(project.folder, 'extensions', 'use.ts');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, code);
  expect(await typeCheck(project.folder)).toBe('');
  const { use }: { use: (url: string, token: string) => Promise<unknown> } = await import(pathToFileURL(path).href);
  expect(await use(project.url, tokenOf('editor'))).toEqual([30, 12, ['apple#1', 'bread#2'], 21]);
});

it('stands in the table of rights, in can and in explain', async () => {
  const run = async (...args: readonly string[]) => {
    const options = ['--project', project.folder];
    const { stdout, stderr } = await runWarm([...args, ...options], { DATABASE_URL: project.database.url });
    return stdout + stderr;
  };
  const matrix = (await run('permissions', 'matrix')).split('\n');
  const [, , ...cells] =
    matrix
      .find((line) => /^ +score /.test(line))
      ?.trim()
      .split(/ {2,}/) ?? [];
  // Checker, editor, partial, public, reader and scorer; none can write it.
  expect(cells.filter((cell) => /[cu]/.test(cell))).toEqual([]);
  expect(cells.filter((cell) => cell.startsWith('r')).length).toBeGreaterThan(1);
  expect(await run('can', 'editor', 'read', 'articles')).toMatch(/fields: .*score/);
  expect(await run('can', 'reader', 'read', 'articles')).not.toMatch(/fields: .*score/);
  expect(await run('explain', 'GET /items/articles?fields=score', '--as', 'editor')).toContain('"article_score"(');
  expect(await run('explain', 'GET /items/articles?fields=score', '--as', 'reader')).toContain('refused  FORBIDDEN');
});

describe('who may not read it', () => {
  const unknown = 'nothing';
  it.each([
    ['/items/articles?fields=id,NAME'],
    ['/items/articles?filter[NAME][_gt]=20'],
    ['/items/articles?sort=NAME'],
    ['/items/articles?aggregate[sum]=NAME'],
    ['/items/articles?groupBy=NAME'],
    ['/items/articles?groupBy=id&aggregate[count]=*&having[max][NAME][_gt]=1'],
    ['/items/articles?alias[a]=NAME&fields=a'],
    ['/items/authors?filter[articles][NAME][_gt]=20'],
    ['/items/authors?fields=articles.NAME'],
    ['/items/authors?deep[articles][_sort]=NAME'],
    ['/items/articles?sort=author.NAME'],
    ['/items/articles?export=csv&fields=NAME'],
  ])('gets the answer of a name that does not exist: %s', async (path) => {
    const [computed, missing] = [
      await ask('reader', path.replace('NAME', 'score')),
      await ask('reader', path.replace('NAME', unknown)),
    ];
    expect([computed.status, computed.text.replaceAll('score', unknown)]).toEqual([missing.status, missing.text]);
    expect(computed.status).toBeGreaterThanOrEqual(400);
  });

  it('finds nothing of it by search, and sees no error of it', async () => {
    expect(await ids('reader', '/items/articles?search=%231')).toEqual([]);
    expect(await ids('reader', '/items/authors?search=x')).toEqual([]);
    expect(await ids('editor', '/items/articles?search=%231')).toEqual([]);
    await project.rows('UPDATE articles SET votes = 9 WHERE id = 1');
    expect((await ask('reader', '/items/articles')).status).toBe(200);
    const raised = await ask('editor', '/items/articles?fields=ratio');
    expect(raised.text).not.toContain('apple');
    expect(raised.text).not.toContain('secret');
  });

  it('sees it in no document', async () => {
    expect(await graphql('reader', '{ articles { score } }')).toEqual([expect.any(String)]);
    const [own, other] = [await ask('reader', '/server/specs/oas'), await ask('editor', '/server/specs/oas')];
    expect(own.text).not.toContain('"score"');
    expect(other.text).toContain('"score"');
  });
});
