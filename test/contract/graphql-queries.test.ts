/** What queries read. Source: API specification, sections 14.1 and 14.2. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';
import { isWithout } from '../support/optimizations.ts';
import { adminToken } from '../support/platform.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
});
afterAll(() => magazine?.close());

async function ask(query: string, variables: object = {}, token?: string) {
  const options = { method: 'POST', body: { query, variables }, ...(token !== undefined && { token }) };
  const { status, json } = await magazine.ask('/graphql', options);
  expect([status, json]).toEqual([200, expect.anything()]);
  return json;
}

const admin = (query: string, variables: object = {}) => ask(query, variables, adminToken);

/** The data of a list over REST. */
async function rest(path: string) {
  const { status, json } = await magazine.admin(`/items/${path}`);
  expect([status, json]).toEqual([200, expect.anything()]);
  return json.data;
}

describe('lists', () => {
  it('take every argument that lists over REST take', async () => {
    const { data } = await admin(
      '{ articles(filter: { views: { _gt: 100 } }, sort: ["-views", "id"], limit: 3, page: 2, search: "the") { id views } }',
    );
    const query = 'filter[views][_gt]=100&sort=-views,id&limit=3&page=2&search=the&fields=id,views';
    expect(data.articles).toEqual(await rest(`articles?${query}`));
    expect(data.articles).toHaveLength(3);
  });

  it('take the same in lists within them, under several names at once', async () => {
    const { data } = await admin(`{ articles(limit: 5) {
      id
      last: comments(sort: "-id", limit: 1) { id }
      some: comments(filter: { id: { _lt: 20 } }, limit: 2, offset: 1) { id }
    } }`);
    const deep = encodeURIComponent(
      JSON.stringify({
        last: { _sort: '-id', _limit: 1 },
        some: { _filter: { id: { _lt: 20 } }, _limit: 2, _offset: 1 },
      }),
    );
    const aliases = 'alias[last]=comments&alias[some]=comments';
    expect(data.articles).toEqual(await rest(`articles?limit=5&fields=id,last.id,some.id&${aliases}&deep=${deep}`));
  });

  it('answer in the order in which fields are first asked for', async () => {
    const { text } = await magazine.admin('/graphql', {
      method: 'POST',
      body: {
        query: `query { b: tags(limit: 1) { name ...T __typename } a: tags(limit: 1) { id } }
          fragment T on tags { again: name id name }`,
      },
    });
    expect(text).toBe(
      '{"data":{"b":[{"name":"letters","again":"letters","id":1,"__typename":"tags"}],"a":[{"id":1}]}}'.replaceAll(
        'letters',
        (await rest('tags/1')).name,
      ),
    );
  });

  it('merge what is asked of one response name', async () => {
    const { data } = await admin(
      '{ articles_by_id(id: 1) { author_id { id } ... on articles { author_id { name ... { id } } } } }',
    );
    expect(Object.keys(data.articles_by_id.author_id)).toEqual(['id', 'name']);
  });

  it('write decimals and big integers as strings and take them as either', async () => {
    const query =
      'query ($id: GraphQLBigInt) { a: articles(filter: { id: { _eq: 7 } }) { id rating } b: articles(filter: { id: { _eq: $id } }) { id } }';
    const { data } = await admin(query, { id: '7' });
    expect(data).toEqual({
      a: [{ id: '7', rating: (await rest('articles/7?fields=rating')).rating }],
      b: [{ id: '7' }],
    });
  });
});

describe('items by key', () => {
  it('are null with FORBIDDEN where there is none, and leave the other root fields alone', async () => {
    const { data, errors } = await admin(
      '{ a: articles_by_id(id: 1) { id }\n  b: articles_by_id(id: "no key") { id } }',
    );
    expect(data).toEqual({ a: { id: '1' }, b: null });
    expect(errors).toEqual([
      {
        message: expect.any(String),
        locations: [{ line: 2, column: 3 }],
        path: ['b'],
        extensions: { code: 'FORBIDDEN' },
      },
    ]);
  });

  it('look the same hidden as missing', async () => {
    const { rows } = await withClient(magazine.database.url, (client) =>
      client.query("SELECT id FROM articles WHERE status = 'draft' LIMIT 1"),
    );
    const query = 'query ($id: ID!) { articles_by_id(id: $id) { id } }';
    expect(await ask(query, { id: rows[0]?.id })).toEqual(await ask(query, { id: '99999999' }));
  });

  it('have keys of several fields in the form of a path', async () => {
    const { data } = await admin('{ order_lines_by_id(id: "1,1") { order_id { id } line_no } }');
    expect(data.order_lines_by_id).toEqual({ order_id: { id: 1 }, line_no: 1 });
  });
});

describe('many-to-any', () => {
  it('tells what an item is, also where nothing is asked of its type', async () => {
    const { data } = await admin(`{ sections(limit: 30) {
      collection item { __typename ... on section_headings { text level } ... on section_images { url } }
    } }`);
    const links = await rest('sections?limit=30&fields=collection');
    expect(data.sections.map((one: { item: { __typename: string } }) => one.item.__typename)).toEqual(
      links.map(({ collection }: { collection: string }) => collection),
    );
    const paragraph = await admin(
      '{ sections(filter: { collection: { _eq: "section_paragraphs" } }, limit: 1) { item { ... on section_images { url } } } }',
    );
    expect(paragraph.data.sections).toEqual([{ item: {} }]);
  });

  it('is filtered by the items of one collection', async () => {
    const { data } = await admin(
      '{ articles(filter: { sections: { _some: { item__section_headings: { level: { _eq: 3 } } } } }, limit: -1) { id } }',
    );
    const filter = encodeURIComponent(JSON.stringify({ sections: { 'item:section_headings': { level: { _eq: 3 } } } }));
    expect(data.articles).toEqual(await rest(`articles?limit=-1&fields=id&filter=${filter}`));
  });
});

describe('functions and aggregates', () => {
  it('stand in objects of their own', async () => {
    const { data } = await admin(
      '{ articles(filter: { published_at_func: { year: { _eq: 2021 } }, comments_func: { count: { _gt: 3 } } }, limit: 4) { published_at_func { y: year month } comments_func { count } } }',
    );
    const filter = encodeURIComponent('{"year(published_at)":{"_eq":2021},"count(comments)":{"_gt":3}}');
    const items = await rest(
      `articles?limit=4&filter=${filter}&fields=year(published_at),month(published_at),count(comments)`,
    );
    expect(data.articles).toEqual(
      items.map((item: Record<string, number>) => ({
        published_at_func: { y: item.published_at_year, month: item.published_at_month },
        comments_func: { count: item.comments_count },
      })),
    );
  });

  it('group and count as over REST', async () => {
    const { data } = await admin(
      '{ articles_aggregated(groupBy: ["status"], sort: ["-countAll"], filter: { views: { _gte: 0 } }) { group n: countAll sum { views } max { id rating } __typename } }',
    );
    const aggregate =
      'aggregate[countAll]=*&aggregate[sum]=views&aggregate[max]=id,rating&groupBy=status&sort=-countAll';
    const items = await rest(`articles?${aggregate}&filter[views][_gte]=0`);
    expect(data.articles_aggregated).toEqual(
      items.map(({ status, countAll, sum, max }: Record<string, unknown>) => ({
        group: { status },
        n: countAll,
        sum,
        max,
        __typename: 'articles_aggregated',
      })),
    );
    const paged = 'articles_aggregated(sort: ["-published_at", "author_id.name"], limit: 25, page: 3) { countAll }';
    const total = await admin(`{ ${paged} all: articles_aggregated { countAll } }`);
    expect(total.data.articles_aggregated).toEqual(total.data.all);
    expect((await admin('{ tags_aggregated { __typename group } }')).data.tags_aggregated).toEqual([
      { __typename: 'tags_aggregated', group: null },
    ]);
  });
});

describe('having', () => {
  const read = async (having: object, selected = 'group countAll sum { views }') => {
    const query = `query ($having: JSON) { articles_aggregated(groupBy: ["status"], sort: ["status"], having: $having) { ${selected} } }`;
    return (await magazine.admin('/graphql', { method: 'POST', body: { query, variables: { having } } })).json;
  };

  it('chooses rows as over REST, by values that are selected and by others', async () => {
    const chosen = [
      { count: { _gt: 1 } },
      { countAll: { _lte: 1000 }, max: { id: { _gt: '1' } } },
      { _or: [{ sum: { views: { _lt: 0 } } }, { avg: { rating: { _nnull: true } } }] },
      { min: { title: { _null: true } } },
      {},
    ];
    for (const having of chosen) {
      const query = encodeURIComponent(JSON.stringify(having));
      const items = await rest(
        `articles?groupBy=status&sort=status&aggregate[countAll]=*&aggregate[sum]=views&having=${query}`,
      );
      const { data } = await read(having);
      expect([having, data?.articles_aggregated]).toEqual([
        having,
        items.map(({ status, countAll, sum }: Record<string, unknown>) => ({ group: { status }, countAll, sum })),
      ]);
    }
    const literal = 'articles_aggregated(having: { count: { _gt: 100000 } }) { countAll }';
    expect((await admin(`{ ${literal} }`)).data).toEqual({ articles_aggregated: [] });
  });

  it('is refused as over REST', async () => {
    const wrong = [
      [{ sum: { views: { _is: 1 } } }, 'INVALID_QUERY'],
      [{ sum: { title: { _gt: 1 } } }, 'INVALID_QUERY'],
      [{ sum: { views: { _gt: 'x' } } }, 'INVALID_QUERY'],
      [{ median: { views: { _gt: 1 } } }, 'FORBIDDEN'],
      [{ sum: { nothing: { _gt: 1 } } }, 'FORBIDDEN'],
      [[1], 'INVALID_QUERY'],
    ] as const;
    for (const [having, code] of wrong) {
      const query = encodeURIComponent(JSON.stringify(having));
      const { json } = await magazine.admin(`/items/articles?groupBy=status&aggregate[countAll]=*&having=${query}`);
      const { errors } = await read(having);
      expect([having, json.errors[0].extensions.code, errors?.[0].extensions.code]).toEqual([having, code, code]);
    }
  });
});

describe('variables and conditions', () => {
  it('reach every place of a filter, and absent ones leave no trace', async () => {
    const query = `query ($all: articles_filter, $status: String, $ids: [GraphQLBigInt!], $limit: Int = 2) {
      a: articles(filter: $all, limit: $limit) { id }
      b: articles(filter: { _and: [{ status: { _eq: $status } }, { id: { _in: $ids } }] }, limit: $limit) { id }
    }`;
    const { data } = await admin(query, { all: { id: { _gt: 5 } }, ids: ['1', 2, 3] });
    expect(data).toEqual({ a: [{ id: '6' }, { id: '7' }], b: [{ id: '1' }, { id: '2' }] });
    const nothing = await admin(query, { all: null, status: 'archived', limit: null });
    expect(nothing.data.a).toHaveLength(100);
    expect(nothing.data.b.length).toBeGreaterThan(0);
  });

  it('leave out what @skip and @include say, each time anew', async () => {
    const query = `query ($title: Boolean!, $more: Boolean = false) {
      tags_by_id(id: 1) { id name @include(if: $title) ...M @skip(if: $more) ... @include(if: $more) { __typename } }
    } fragment M on tags { twice: id }`;
    const keys = async (variables: object) => Object.keys((await admin(query, variables)).data.tags_by_id);
    expect(await keys({ title: true })).toEqual(['id', 'name', 'twice']);
    expect(await keys({ title: false, more: true })).toEqual(['id', '__typename']);
    expect(await keys({ title: true })).toEqual(['id', 'name', 'twice']);
  });

  it('are refused at their root field where they cannot be used', async () => {
    const { data, errors } = await admin(
      'query ($limit: Int) { a: articles(limit: $limit) { id } t: tags(limit: 1) { id } }',
      {
        limit: -7,
      },
    );
    expect(data).toBeNull();
    expect(errors).toMatchObject([{ path: ['a'], extensions: { code: 'INVALID_QUERY' } }]);
  });
});

describe('statements', () => {
  it('are one per root field, however deep, and none for what is no data', async () => {
    const query = `{
      a: articles(limit: 3) { author_id { articles(limit: 2) { tags { name } sections { item { ... on section_headings { text } } } } } comments { id } }
      b: articles_by_id(id: 1) { id author_id { name } }
      c: articles_aggregated { countAll }
      __typename
    }`;
    await admin(query);
    magazine.statements.reset();
    await admin(query);
    expect(magazine.statements.executed()).toBe(3);
    await admin('{ __typename __schema { queryType { name } } }');
    expect(magazine.statements.executed()).toBe(3);
  });

  it.skipIf(isWithout('fast-driver'))('have the same text whatever the values of variables are', async () => {
    const query =
      'query ($a: GraphQLStringOrFloat, $t: String, $l: Int) { articles(filter: { views: { _gt: $a }, author_id: { name: { _neq: $t } } }, limit: $l) { id comments(limit: $l) { id } } }';
    await admin(query, { a: 1, t: 'x', l: 4 });
    magazine.statements.reset();
    await admin(query, { a: 900, t: "o'clock", l: 6 });
    expect(magazine.statements.texts()).toEqual([]);
  });
});

describe('introspection', () => {
  it('stands beside data in the order of the document', async () => {
    const { text } = await magazine.admin('/graphql', {
      method: 'POST',
      body: { query: '{ s: __schema { queryType { name } } tags(limit: 1) { id } t: __type(name: "tags") { kind } }' },
    });
    expect(text).toBe('{"data":{"s":{"queryType":{"name":"Query"}},"tags":[{"id":1}],"t":{"kind":"OBJECT"}}}');
  });
});
