/** `search` by an index of words: best first, and never by words that the caller cannot read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller, CompiledApi } from '../../packages/runtime/src/index.ts';
import { createPlanner } from '../../packages/runtime/src/query/planner.ts';
import { withClient } from '../support/database.ts';
import { loadApi } from '../support/in-process.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

const sql = `
  CREATE TABLE articles (
    id int PRIMARY KEY, title text NOT NULL, body text, views int NOT NULL DEFAULT 0,
    search tsvector GENERATED ALWAYS AS (to_tsvector('english', coalesce(title, '') || ' ' || coalesce(body, ''))) STORED
  );
  CREATE INDEX ON articles USING gin (search);
  INSERT INTO articles (id, title, body, views) VALUES
    (1, 'The harbour', 'Boats run in and out of the harbour. The harbour is old.', 5),
    (2, 'Winter', 'The harbour in winter', 9),
    (3, 'Running', 'A runner near a harbour', 7),
    (4, 'Mountains', 'Nothing of the sea', 1);
  CREATE TABLE letters (id int PRIMARY KEY, article int REFERENCES articles, subject text NOT NULL, content text NOT NULL);
  CREATE INDEX ON letters USING gin (to_tsvector('english', subject || ' ' || content));
  INSERT INTO letters VALUES (1, 1, 'To the editor', 'I run a shop'), (2, 1, 'Again', 'Shops shops shops'), (3, 2, 'No', 'nothing');
  CREATE TABLE mixed (id int PRIMARY KEY, open text, secret text,
    words tsvector GENERATED ALWAYS AS (to_tsvector('simple', coalesce(open, '') || ' ' || coalesce(secret, ''))) STORED);
  INSERT INTO mixed VALUES (1, 'visible text', 'treasure'), (2, 'other text', 'nothing');
  CREATE EXTENSION pg_trgm;
  CREATE TABLE plain (id int PRIMARY KEY, one text NOT NULL, two varchar(50));
  INSERT INTO plain SELECT i, 'Filler ' || i, 'word' || i % 500 FROM generate_series(1, 20000) i;
  CREATE INDEX plain_parts ON plain USING gin (one gin_trgm_ops, two gin_trgm_ops);
  INSERT INTO articles (id, title, body) SELECT i, 'Filler ' || i, 'word' || i % 500 FROM generate_series(100, 20000) i;`;

const config = `{ collections: {
  articles: { search: { mode: 'text', column: 'search', language: 'english' } },
  letters: { search: { mode: 'text', fields: ['subject', 'content'], language: 'english' } },
  mixed: { search: { mode: 'text', column: 'words' } },
} }`;

const permissions = `
roles: { blind: {}, half: {}, reader: {} }
permissions:
  public:
    articles: { read: true }
    letters: { read: true }
    plain: { read: true }
    mixed: { read: { fields: [id, open] } }
  half:
    mixed:
      read:
        - { fields: [id, open] }
        - { fields: [id, open, secret], filter: { id: { _eq: 2 } } }
  reader: { mixed: { read: true } }
`;

let project: ServedProject;
let api: CompiledApi;
beforeAll(async () => {
  project = await serveProject({ sql, config, permissions });
  // The index of words keeps new rows in a list at first.
  await project.rows('VACUUM ANALYZE');
  api = await loadApi(project.folder);
});
afterAll(() => project?.close());

async function ids(path: string): Promise<unknown> {
  const answer = await project.ask(path);
  return answer.status === 200 ? answer.json.data.map(({ id }: { id: number }) => id) : failure(answer);
}

async function graphql(query: string): Promise<unknown> {
  const { json } = await project.ask('/graphql', { method: 'POST', body: { query } });
  return json.errors ?? json.data;
}

const find = (collection: string, text: string, more = ''): Promise<unknown> =>
  ids(`/items/${collection}?fields=id&search=${encodeURIComponent(text)}${more}`);

describe('words', () => {
  it('are found in any form, best first, then by key', async () => {
    expect(await find('articles', 'harbour -winter')).toEqual([1, 3]);
    expect(await find('articles', 'harbours')).toEqual([1, 2, 3]);
    expect(await find('articles', 'run')).toEqual([1, 3]);
    expect(await find('articles', '"old harbour"')).toEqual([]);
    expect(await find('articles', 'winter OR mountain')).toEqual([2, 4]);
    expect(await find('letters', 'shops')).toEqual([2, 1]);
  });

  it('give way to an order, to filters, limits and counts', async () => {
    expect(await find('articles', 'harbour', '&sort=-views')).toEqual([2, 3, 1]);
    expect(await find('articles', 'harbour', '&filter[views][_lt]=9&limit=1')).toEqual([1]);
    const counted = await project.ask('/items/articles?search=harbour&limit=1&meta=filter_count&fields=id');
    expect(counted.json.meta).toEqual({ filter_count: 3 });
    expect((await project.ask('/items/articles?search=harbour&aggregate[count]=*')).json.data).toEqual([{ count: 3 }]);
    const body = { query: { search: 'harbour -winter', fields: ['id'] } };
    expect((await project.ask('/items/articles', { method: 'SEARCH', body })).json.data).toEqual([
      { id: 1 },
      { id: 3 },
    ]);
  });

  it('of many rows are ranked in the last 250 of them; others follow, on pages that stay put', async () => {
    const run = (count: number, from: number, step: number) => Array.from({ length: count }, (_, n) => from + n * step);
    // All rows fit alike, so that the key orders those that are ranked.
    expect(await find('articles', 'filler', '&limit=3')).toEqual([19_751, 19_752, 19_753]);
    const crossing = [...run(10, 19_991, 1), ...run(20, 19_750, -1)];
    expect(await find('articles', 'filler', '&limit=30&offset=240')).toEqual(crossing);
    expect(await find('articles', 'filler', '&limit=2&offset=5000')).toEqual([15_000, 14_999]);
    const all = [...run(250, 19_751, 1), ...run(19_651, 19_750, -1)];
    expect(await find('articles', 'filler', '&limit=-1')).toEqual(all);
    const counted = await project.ask('/items/articles?search=filler&limit=1&meta=*&fields=id');
    expect(counted.json.meta).toEqual({ total_count: 19_905, filter_count: 19_901 });
    // The best of them comes first, wherever it is.
    expect(await find('articles', 'filler OR word307', '&limit=2')).toEqual([19_807, 19_751]);
    expect(await find('articles', 'filler', '&limit=2&sort=id&filter[id][_gt]=150')).toEqual([151, 152]);
    expect(await find('articles', 'filler', '&limit=2&sort=-id&cursor=')).toEqual([20_000, 19_999]);
  });

  it('have no cursor without an order', async () => {
    expect(await find('articles', 'harbour', '&cursor=')).toBe('400 INVALID_QUERY');
    expect(await find('articles', 'harbour', '&cursor=&sort=id')).toEqual([1, 2, 3]);
  });

  it('are looked for in GraphQL and in lists within items', async () => {
    expect(await graphql('{ articles(search: "harbour -winter") { id } }')).toEqual({
      articles: [{ id: 1 }, { id: 3 }],
    });
    const nested = { letters: [{ id: 2 }, { id: 1 }] };
    expect(await graphql('{ articles(filter: { id: { _eq: 1 } }) { letters(search: "shop") { id } } }')).toEqual({
      articles: [nested],
    });
    const deep = await project.ask('/items/articles/1?fields=letters.id&deep[letters][_search]=shop');
    expect(deep.json.data).toEqual(nested);
  });

  it('of every kind are texts, and no part of a statement', async () => {
    for (const text of ["' OR 1=1 --", '!!&|()<->', ':*', '"', '\\', 'a & ! b', 'x'.repeat(1_000), '🙂', 'the of and'])
      expect(await find('articles', text), text).toEqual([]);
  });
});

describe('words of hidden columns', () => {
  const callers = async (role: string): Promise<Caller> => {
    const accessClass = api.access.find(({ roles }) => roles.includes(role))?.name ?? '';
    return { accessClass, user: null, role: null };
  };
  const count = async (role: string, text: string): Promise<number> => {
    const planned = createPlanner(api).list(await callers(role), { name: 'mixed' }, `fields=id&search=${text}`);
    return withClient(project.database.url, async (client) => {
      const { text: statement } = planned.plan.statement;
      return (await client.query(statement, [...planned.parameters])).rows.length;
    });
  };

  it('find nothing for a class that cannot read each of them on every row', async () => {
    for (const path of [
      '/items/mixed?fields=id&search=treasure',
      '/items/mixed?fields=id&search=treasure&sort=id',
      '/items/mixed?fields=id&filter[open][_contains]=text&search=treasure',
    ]) {
      expect(await ids(path), path).toEqual([]);
    }
    expect((await project.ask('/items/mixed?search=treasure&aggregate[count]=*')).json.data).toEqual([{ count: 0 }]);
    expect(
      await graphql('{ mixed(search: "treasure") { id } mixed_aggregated(search: "treasure") { count { id } } }'),
    ).toEqual({
      mixed: [],
      mixed_aggregated: [{ count: { id: 0 } }],
    });
    // Parts of words are found: it is the search without an index.
    expect(await ids('/items/mixed?fields=id&search=isibl')).toEqual([1]);
    expect(await count('half', 'treasure')).toBe(0);
    expect(await count('half', 'isibl')).toBe(1);
  });

  it('are found by who reads them', async () => {
    expect(await count('reader', 'treasure')).toBe(1);
    expect(await count('reader', 'isibl')).toBe(0);
  });
});

describe('plans', () => {
  const planOf = async (query: string, collection = 'articles'): Promise<string> => {
    const accessClass = api.access.find(({ roles }) => roles.includes('public'))?.name ?? '';
    const planned = createPlanner(api).list({ accessClass, user: null, role: null }, { name: collection }, query);
    return withClient(project.database.url, async (client) => {
      // As the driver has it.
      const mode = planned.plan.statement.byValues === true ? 'force_custom_plan' : 'force_generic_plan';
      await client.query(`SET plan_cache_mode = ${mode}`);
      await client.query(`PREPARE searched AS ${planned.plan.statement.text}`);
      const values = planned.parameters.map((value) => (value === null ? 'NULL' : `'${value}'`)).join(', ');
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN EXECUTE searched (${values})`);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });
  };

  it('read words by the index', async () => {
    const plan = await planOf('fields=id,title&search=harbour&limit=20');
    expect(plan).toContain('articles_search_idx');
    expect(plan).not.toContain('Seq Scan');
  });

  it('read words that no row has by the index in any order, and those of most rows by the key', async () => {
    expect(await planOf('fields=id,title&search=nowhere&sort=id&limit=20')).toContain('articles_search_idx');
    expect(await planOf('fields=id,title&search=filler&limit=20')).toContain('Scan Backward using articles_pkey');
    expect(await planOf('fields=id,title&search=filler&sort=id&limit=20')).toContain('Scan using articles_pkey');
  });

  it('read parts of texts by trigrams, where there are such indexes', async () => {
    const plan = await planOf('search=word77&limit=20', 'plain');
    expect(plan).toContain('plain_parts');
    expect(plan).not.toContain('Seq Scan');
  });
});
