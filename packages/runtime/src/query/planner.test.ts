import { describe, expect, test } from 'vitest';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import { always, collection, field, type JsonValue } from '../language/index.ts';
import { createUncounted } from '../language/values/bounded-cache.ts';
import { createPlanner } from './planner.ts';
import { collections, magazine } from './testing/magazine.ts';

const planner = createPlanner(magazine, { createCache: createUncounted });
const admin: Caller = { accessClass: 'admin', user: null, role: 'admin' };
const visitor: Caller = { accessClass: 'public', user: null, role: null };
const writer: Caller = { accessClass: 'writer', user: '7', role: 'author' };

function list(caller: Caller, collection: string, query = '') {
  const { plan, parameters } = planner.list(caller, { name: collection }, query);
  return `${plan.statement.text}\n${JSON.stringify(parameters)}`;
}

function read(caller: Caller, collection: string, key: string, query = '') {
  const { plan, parameters } = planner.read(caller, { name: collection }, key, query);
  return `${plan.statement.text}\n${JSON.stringify(parameters)}`;
}

function search(caller: Caller, collection: string, body?: JsonValue) {
  return planner.search(caller, { name: collection }, body);
}

/** The code a request is answered with, or the number of its parameters when it is planned. */
function code(run: () => unknown): string {
  try {
    run();
    return 'planned';
  } catch (error) {
    if (error instanceof PlatformError) return error.code;
    throw error;
  }
}

describe('the SQL of lists', () => {
  test('columns of one table, with the casts of their wire forms', () => {
    expect(list(admin, 'articles', 'fields=id,title,rating,status,keywords')).toMatchInlineSnapshot(`
      "SELECT t0."id", t0."title", t0."rating"::text, t0."status"::text, t0."keywords" FROM "public"."articles" t0 ORDER BY t0."id" LIMIT 100
      []"
    `);
  });

  test('a filter, an order and a page', () => {
    expect(
      list(admin, 'articles', 'fields=id&filter[status][_eq]=draft&sort=-published_at,title&limit=20&page=3'),
    ).toMatchInlineSnapshot(`
      "SELECT t0."id" FROM "public"."articles" t0 WHERE t0."status" = $1::"public"."article_status" ORDER BY t0."published_at" DESC, t0."title", t0."id" LIMIT 20 OFFSET $2::pg_catalog.int8
      ["draft","40"]"
    `);
  });

  test('relations of every kind, nested', () => {
    expect(
      list(admin, 'articles', 'fields=id,author_id.name,comments.body,comments.article_id.title,tags.name&limit=20'),
    ).toMatchInlineSnapshot(`
      "SELECT t1."id", (SELECT ROW(t2."name") FROM "public"."authors" t2 WHERE t2."id" = t1."author_id"), ARRAY(SELECT ROW(t4."body", (SELECT ROW(t5."title") FROM "public"."articles" t5 WHERE t5."id" = t4."article_id")) FROM (SELECT t3."id", t3."body", t3."article_id" FROM (SELECT t3."id", t3."body", t3."article_id" FROM "public"."comments" t3 WHERE t3."article_id" = t1."id" OFFSET 0) t3 ORDER BY t3."id" LIMIT 100) t4 ORDER BY t4."id"), ARRAY(SELECT ROW(t6."name") FROM "public"."articles_tags" t7 CROSS JOIN LATERAL (SELECT t6."id", t6."name" FROM "public"."tags" t6 WHERE t6."id" = t7."tag_id" OFFSET 0) t6 WHERE t7."article_id" = ANY (ARRAY[t1."id"]) ORDER BY t7."article_id", t7."sort", t7."tag_id" LIMIT 100) FROM (SELECT t0."id", t0."author_id" FROM "public"."articles" t0 ORDER BY t0."id" LIMIT 20) t1 ORDER BY t1."id"
      []"
    `);
  });

  test('relations as keys', () => {
    expect(list(admin, 'articles', 'fields=author_id,blocks,comments,tags')).toMatchInlineSnapshot(`
      "SELECT t1."author_id", ARRAY(SELECT t2."id" FROM (SELECT t2."sort", t2."id" FROM "public"."blocks" t2 WHERE t2."article_id" = t1."id" OFFSET 0) t2 ORDER BY t2."sort", t2."id" LIMIT 100), ARRAY(SELECT t3."id" FROM (SELECT t3."id" FROM "public"."comments" t3 WHERE t3."article_id" = t1."id" OFFSET 0) t3 ORDER BY t3."id" LIMIT 100), ARRAY(SELECT t4."id" FROM "public"."articles_tags" t5 CROSS JOIN LATERAL (SELECT t4."id" FROM "public"."tags" t4 WHERE t4."id" = t5."tag_id" OFFSET 0) t4 WHERE t5."article_id" = ANY (ARRAY[t1."id"]) ORDER BY t5."article_id", t5."sort", t5."tag_id" LIMIT 100) FROM (SELECT t0."id", t0."author_id" FROM "public"."articles" t0 ORDER BY t0."id" LIMIT 100) t1 ORDER BY t1."id"
      []"
    `);
  });

  test('an m2o of several columns, as key and nested', () => {
    expect(list(admin, 'parcels', 'fields=order_lines')).toMatchInlineSnapshot(`
      "SELECT CASE WHEN (t1."order_id" IS NOT NULL AND t1."line" IS NOT NULL) THEN ROW(t1."order_id", t1."line") END FROM (SELECT t0."id", t0."order_id", t0."line" FROM "public"."parcels" t0 ORDER BY t0."id" LIMIT 100) t1 ORDER BY t1."id"
      []"
    `);
    expect(list(admin, 'parcels', 'fields=order_lines.amount')).toMatchInlineSnapshot(`
      "SELECT (SELECT ROW(t2."amount"::text) FROM "public"."order_lines" t2 WHERE (t2."order_id" = t1."order_id" AND t2."line" = t1."line")) FROM (SELECT t0."id", t0."order_id", t0."line" FROM "public"."parcels" t0 ORDER BY t0."id" LIMIT 100) t1 ORDER BY t1."id"
      []"
    `);
  });

  test('a secret leaves the database only as its presence', () => {
    expect(list(admin, 'articles', 'fields=password')).toMatchInlineSnapshot(`
      "SELECT CASE WHEN t0."password" IS NOT NULL THEN TRUE END FROM "public"."articles" t0 ORDER BY t0."id" LIMIT 100
      []"
    `);
  });

  test('counts are computed once and survive an empty list', () => {
    expect(list(admin, 'tags', 'fields=name&meta=*&filter[name][_contains]=50%25_&limit=3')).toMatchInlineSnapshot(`
      "SELECT t2.c0, t2.c1, t1."x0" IS NOT NULL, t1."name" FROM (SELECT (SELECT pg_catalog.count(*) FROM "public"."tags" t0) AS c0, (SELECT pg_catalog.count(*) FROM "public"."tags" t0 WHERE t0."name"::pg_catalog.text COLLATE pg_catalog."default" LIKE $1::pg_catalog.text) AS c1) t2 LEFT JOIN (SELECT t0."id", t0."name", TRUE AS "x0" FROM "public"."tags" t0 WHERE t0."name"::pg_catalog.text COLLATE pg_catalog."default" LIKE $1::pg_catalog.text ORDER BY t0."id" LIMIT 3) t1 ON TRUE ORDER BY t1."id"
      ["%50\\\\%\\\\_%"]"
    `);
  });

  test('an order through an m2o', () => {
    expect(list(admin, 'comments', 'fields=id&sort=-article_id.author_id.name')).toMatchInlineSnapshot(`
      "SELECT t0."id" FROM "public"."comments" t0 ORDER BY (SELECT (SELECT t2."name" FROM "public"."authors" t2 WHERE t2."id" = t1."author_id") FROM "public"."articles" t1 WHERE t1."id" = t0."article_id") DESC, t0."id" LIMIT 100
      []"
    `);
  });

  test('no key, no completion of the order', () => {
    expect(list(admin, 'statistics', 'sort=-hits&limit=7&offset=14')).toMatchInlineSnapshot(`
      "SELECT t0."day", t0."hits" FROM "public"."statistics" t0 ORDER BY t0."hits" DESC LIMIT $1::pg_catalog.int8 OFFSET $2::pg_catalog.int8
      ["7","14"]"
    `);
  });
});

describe('the SQL of filters', () => {
  function predicate(filter: JsonValue): string {
    const text = list(admin, 'articles', `fields=id&filter=${encodeURIComponent(JSON.stringify(filter))}`);
    return text
      .replace(/^SELECT .*? FROM "public"\."articles" t0(?: WHERE )?/, '')
      .replace(' ORDER BY t0."id" LIMIT 100\n', '   ');
  }

  const cases: readonly (readonly [JsonValue, string])[] = [
    [{}, '   []'],
    [{ _or: [] }, 'FALSE   []'],
    [{ id: '9007199254740993' }, 't0."id" = $1::int8   ["9007199254740993"]'],
    [{ id: { _in: [1, 2] } }, 't0."id" = ANY ($1::int8[])   ["{\\"1\\",\\"2\\"}"]'],
    [{ id: { _nin: [] } }, 't0."id" <> ALL ($1::int8[])   ["{}"]'],
    [{ views: { _lt: 40000 } }, 't0."views" < $1::int4   ["40000"]'],
    [{ rating: { _between: ['1.50', 2] } }, 't0."rating" BETWEEN $1::numeric AND $2::numeric   ["1.50","2"]'],
    [
      { title: { _contains: '5%_\\' } },
      't0."title"::pg_catalog.text COLLATE pg_catalog."default" LIKE $1::pg_catalog.text   ["%5\\\\%\\\\_\\\\\\\\%"]',
    ],
    [
      { title: { _nistarts_with: 'a' } },
      't0."title"::pg_catalog.text COLLATE pg_catalog."default" NOT ILIKE $1::pg_catalog.text   ["a%"]',
    ],
    [{ title: { _empty: true } }, `(t0."title" IS NULL OR t0."title" = '')   []`],
    [{ slug: 'a' }, 't0."slug"::pg_catalog.text = $1::text   ["a"]'],
    [{ status: { _neq: 'draft' } }, 't0."status" <> $1::"public"."article_status"   ["draft"]'],
    [{ author_id: null }, 't0."author_id" IS NULL   []'],
    [
      { _or: [{ title: 'a' }, { title: 'a', id: 1 }] },
      '(t0."title" = $1::varchar OR (t0."title" = $2::varchar AND t0."id" = $3::int8))   ["a","a","1"]',
    ],
    [
      { author_id: { name: 'a' } },
      'EXISTS (SELECT 1 FROM "public"."authors" t1 WHERE (t1."id" = t0."author_id" AND t1."name" = $1::text))   ["a"]',
    ],
    [
      { tags: { name: 'a' } },
      'EXISTS (SELECT 1 FROM "public"."articles_tags" t2, "public"."tags" t1 WHERE (t2."article_id" = t0."id" AND t1."id" = t2."tag_id" AND t1."name" = $1::text))   ["a"]',
    ],
    [
      { comments: { _none: { body: { _eq: '$CURRENT_USER' } } } },
      '($1::text IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "public"."comments" t1 WHERE (t1."article_id" = t0."id" AND t1."body" = $1::text)))   [null]',
    ],
    [
      { 'count(comments)': { _gt: 1 } },
      '(SELECT pg_catalog.count(*) FROM "public"."comments" t1 WHERE t1."article_id" = t0."id") > $1::int8   ["1"]',
    ],
    [
      { 'year(published_at)': 2024 },
      `(CASE WHEN pg_catalog.isfinite((t0."published_at" AT TIME ZONE 'UTC')) THEN pg_catalog.floor(pg_catalog.date_part('year', (t0."published_at" AT TIME ZONE 'UTC')))::int4 END) = $1::int4   ["2024"]`,
    ],
    [
      { published_at: { _gte: '$NOW(-2 weeks)' } },
      't0."published_at" >= (pg_catalog.now() + $1::pg_catalog.interval)   ["P-2W"]',
    ],
    [
      { blocks: { 'item:headings': { text: 'a' } } },
      `EXISTS (SELECT 1 FROM "public"."blocks" t1 WHERE (t1."article_id" = t0."id" AND EXISTS (SELECT 1 FROM "public"."headings" t2 WHERE (t1."collection"::pg_catalog.text = $1::pg_catalog.text AND t2."id" = CASE WHEN t1."item"::pg_catalog.text ~ '^-?[0-9]{1,18}$' THEN t1."item"::pg_catalog.text::pg_catalog.int8 END AND t2."text" = $2::text))))   ["headings","a"]`,
    ],
  ];
  test.each(cases)('%j', (filter, expected) => {
    expect(predicate(filter)).toBe(expected);
  });
});

describe('the SQL of nested lists', () => {
  test('search is a filter over the text fields, with one value', () => {
    expect(list(admin, 'articles', 'fields=id&search=50%25')).toMatchInlineSnapshot(`
      "SELECT t0."id" FROM "public"."articles" t0 WHERE (t0."title"::pg_catalog.text COLLATE pg_catalog."default" ILIKE $1::pg_catalog.text OR (t0."slug"::pg_catalog.text)::pg_catalog.text COLLATE pg_catalog."default" ILIKE $1::pg_catalog.text) ORDER BY t0."id" LIMIT 100
      ["%50\\\\%%"]"
    `);
    expect(list(admin, 'statistics', 'fields=day&search=a')).toMatchInlineSnapshot(`
      "SELECT t0."day" FROM "public"."statistics" t0 WHERE FALSE LIMIT 100
      []"
    `);
  });

  test('functions of fields and relations', () => {
    expect(
      list(admin, 'articles', 'fields=year(published_at),count(tags)&sort=-count(comments)&limit=2'),
    ).toMatchInlineSnapshot(`
      "SELECT CASE WHEN pg_catalog.isfinite((t2."published_at" AT TIME ZONE 'UTC')) THEN pg_catalog.floor(pg_catalog.date_part('year', (t2."published_at" AT TIME ZONE 'UTC')))::int4 END, ((SELECT pg_catalog.count(*) FROM "public"."articles_tags" t4 WHERE t4."article_id" = t2."id"))::pg_catalog.text FROM (SELECT t0."id", t0."published_at", (SELECT pg_catalog.count(*) FROM "public"."comments" t1 WHERE t1."article_id" = t0."id") AS "x0" FROM "public"."articles" t0 ORDER BY (SELECT pg_catalog.count(*) FROM "public"."comments" t1 WHERE t1."article_id" = t0."id") DESC, t0."id" LIMIT 2) t2 ORDER BY t2."x0" DESC, t2."id"
      []"
    `);
  });

  test('one relation read twice, and its values behind those of the filter', () => {
    expect(
      list(
        admin,
        'articles',
        'alias[all]=comments&fields=all.id,comments&deep[comments][_filter][body]=b&deep[comments][_limit]=7' +
          '&deep[comments][_offset]=1&deep[all][_limit]=-1&deep[all][_sort]=-body&filter[title]=a&limit=9&offset=3',
      ),
    ).toMatchInlineSnapshot(`
      "SELECT ARRAY(SELECT ROW(t2."id") FROM "public"."comments" t2 WHERE t2."article_id" = t1."id" ORDER BY t2."body" DESC, t2."id"), ARRAY(SELECT t3."id" FROM (SELECT t3."id" FROM "public"."comments" t3 WHERE (t3."article_id" = t1."id" AND t3."body" = $1::text) OFFSET 0) t3 ORDER BY t3."id" LIMIT $2::pg_catalog.int8 OFFSET $3::pg_catalog.int8) FROM (SELECT t0."id" FROM "public"."articles" t0 WHERE t0."title" = $4::varchar ORDER BY t0."id" LIMIT $5::pg_catalog.int8 OFFSET $6::pg_catalog.int8) t1 ORDER BY t1."id"
      ["b","7","1","a","9","3"]"
    `);
  });

  test('items of a many-to-any', () => {
    expect(list(admin, 'articles', 'fields=blocks.item,blocks.item:headings.text')).toMatchInlineSnapshot(`
      "SELECT ARRAY(SELECT ROW(ROW((SELECT ROW(t4."text") FROM "public"."headings" t4 WHERE (t3."collection"::pg_catalog.text = $1::pg_catalog.text AND t4."id" = CASE WHEN t3."item"::pg_catalog.text ~ '^-?[0-9]{1,18}$' THEN t3."item"::pg_catalog.text::pg_catalog.int8 END)), CASE WHEN (t3."collection"::pg_catalog.text = $1::pg_catalog.text) IS NOT TRUE THEN t3."item" END)) FROM (SELECT t2."sort", t2."id", t2."collection", t2."item" FROM (SELECT t2."sort", t2."id", t2."collection", t2."item" FROM "public"."blocks" t2 WHERE t2."article_id" = t1."id" OFFSET 0) t2 ORDER BY t2."sort", t2."id" LIMIT 100) t3 ORDER BY t3."sort", t3."id") FROM (SELECT t0."id" FROM "public"."articles" t0 ORDER BY t0."id" LIMIT 100) t1 ORDER BY t1."id"
      ["headings"]"
    `);
  });
});

describe('permissions', () => {
  test('rows of every level pass the rules of their collection', () => {
    expect(list(visitor, 'articles', 'fields=title,comments.body&limit=5')).toMatchInlineSnapshot(`
      "SELECT t1."title", ARRAY(SELECT ROW(t3."body") FROM (SELECT t2."id", t2."body" FROM (SELECT t2."id", t2."body" FROM "public"."comments" t2 WHERE t2."article_id" = t1."id" OFFSET 0) t2 ORDER BY t2."id" LIMIT 100) t3 ORDER BY t3."id") FROM (SELECT t0."id", t0."title" FROM "public"."articles" t0 WHERE t0."status" = $1::"public"."article_status" ORDER BY t0."id" LIMIT 5) t1 ORDER BY t1."id"
      ["published"]"
    `);
    expect(list(visitor, 'comments')).toMatchInlineSnapshot(`
      "SELECT t0."id", t0."body" FROM "public"."comments" t0 ORDER BY t0."id" LIMIT 100
      []"
    `);
  });

  test('with several rules a cell is null where no rule grants it, for filters and sorting too', () => {
    expect(list(writer, 'articles', 'fields=id,rating&filter[rating][_gt]=1&sort=rating')).toMatchInlineSnapshot(`
      "SELECT t0."id", (CASE WHEN t0."author_id" = $1::int4 THEN t0."rating" END)::text FROM "public"."articles" t0 WHERE ((t0."status" = $2::"public"."article_status" OR t0."author_id" = $1::int4) AND (CASE WHEN t0."author_id" = $1::int4 THEN t0."rating" END) > $3::numeric) ORDER BY CASE WHEN t0."author_id" = $1::int4 THEN t0."rating" END, t0."id" LIMIT 100
      ["7","published","1"]"
    `);
  });

  test('a rule with a missing value of the caller is false as a whole', () => {
    expect(list({ ...writer, role: null }, 'tags')).toMatchInlineSnapshot(`
      "SELECT t0."name" FROM "public"."tags" t0 WHERE ($1::text IS NOT NULL AND (t0."name" = $2::text OR t0."name" <> $1::text)) ORDER BY t0."id" LIMIT 100
      [null,"open"]"
    `);
    expect(list({ ...writer, role: 'author' }, 'tags')).toContain('["author","open"]');
  });

  test('a value of the caller that cannot be of the type is missing', () => {
    expect(list({ ...writer, user: 'not a number' }, 'articles', 'fields=id')).toContain('["published",null]');
  });

  test('wildcards shrink to what can be read', () => {
    const { plan } = planner.list(visitor, { name: 'articles' }, 'fields=*,author_id.*');
    expect(plan.fields.map(({ key }) => key)).toEqual(['id', 'title', 'author_id', 'comments', 'tags']);
    expect(plan.fields[2]).toMatchObject({ shape: { kind: 'record', fields: [{ key: 'id' }, { key: 'name' }] } });
  });

  test('a wildcard leaves a relation to a hidden collection as its key', () => {
    const { plan } = planner.list(writer, { name: 'comments' }, 'fields=*.*');
    expect(plan.fields.map(({ key, shape }) => [key, shape.kind])).toEqual([
      ['id', 'scalar'],
      ['article_id', 'record'],
      ['body', 'scalar'],
    ]);
  });
});

describe('reads by key', () => {
  test('one value, several values', () => {
    expect(read(admin, 'articles', '9007199254740993', 'fields=id')).toMatchInlineSnapshot(`
      "SELECT t0."id" FROM "public"."articles" t0 WHERE t0."id" = $1::int8
      ["9007199254740993"]"
    `);
    expect(read(admin, 'order_lines', '17,3', 'fields=amount')).toMatchInlineSnapshot(`
      "SELECT t0."amount"::text FROM "public"."order_lines" t0 WHERE (t0."order_id" = $1::int4 AND t0."line" = $2::int4)
      ["17","3"]"
    `);
  });

  test.each([
    ['articles', 'x'],
    ['articles', '1,2'],
    ['articles', ''],
    ['articles', '9223372036854775808'],
    ['order_lines', '17'],
    ['statistics', '1'],
    ['nothing', '1'],
  ])('%s/%s is FORBIDDEN', (collection, key) => {
    expect(code(() => read(admin, collection, key))).toBe('FORBIDDEN');
  });

  test('neither a singleton nor a broken encoding is a path', () => {
    expect(code(() => read(admin, 'settings', '1'))).toBe('ROUTE_NOT_FOUND');
    expect(code(() => read(admin, 'articles', '%f'))).toBe('ROUTE_NOT_FOUND');
  });

  test('limits do not apply to them', () => {
    expect(code(() => read(admin, 'articles', '1', 'limit=x&sort=nothing&search=a'))).toBe('planned');
    expect(code(() => read(admin, 'articles', '1', 'alias[a]=b'))).toBe('FORBIDDEN');
    expect(code(() => read(admin, 'articles', '1', 'alias[a]=title&deep[comments][_limit]=2'))).toBe('planned');
  });
});

describe('SEARCH', () => {
  test('an absent and an empty body are the plain list', () => {
    const { plan } = planner.list(admin, { name: 'tags' }, '');
    expect(search(admin, 'tags').plan).toBe(plan);
    expect(search(admin, 'tags', {}).plan).toBe(plan);
  });

  test('keys of one and of several fields, each counted once', () => {
    const tags = search(admin, 'tags', { keys: [1, '2', 1], query: { fields: ['id'] } });
    expect(tags.plan.statement.text).toContain('WHERE t0."id" = ANY ($1::int4[]) ORDER BY');
    expect(tags).toMatchObject({ parameters: ['{"1","2"}'], rows: 2 });
    const lines = search(admin, 'order_lines', {
      keys: [{ order_id: 17, line: 3 }, '17,4'],
      query: { fields: ['line'] },
    });
    expect(lines.plan.statement.text).toContain(
      'WHERE (t0."order_id", t0."line") IN (SELECT k0, k1 FROM ROWS FROM (pg_catalog.unnest($1::int4[]), pg_catalog.unnest($2::int4[])) k(k0, k1))',
    );
    expect(lines.parameters).toEqual(['{"17","17"}', '{"3","4"}']);
  });

  test('a filter beside the keys may leave some of them out', () => {
    expect(search(admin, 'tags', { keys: [1], query: { filter: { name: 'a' } } }).rows).toBeUndefined();
  });

  test.each<[string, JsonValue, string]>([
    ['another key', { filter: {} }, 'INVALID_PAYLOAD'],
    ['a list', [], 'INVALID_PAYLOAD'],
    ['keys that are no list', { keys: 1 }, 'INVALID_PAYLOAD'],
    ['a query that is no object', { query: [] }, 'INVALID_QUERY'],
    ['a malformed key', { keys: ['x'] }, 'FORBIDDEN'],
    ['a key of a composite key that lacks a field', { keys: [{ id: 1, other: 2 }] }, 'FORBIDDEN'],
    ['syntax before keys', { keys: ['x'], query: { limit: 'x' } }, 'INVALID_QUERY'],
    ['keys before values', { keys: ['x'], query: { filter: { id: 'x' } } }, 'FORBIDDEN'],
  ])('%s', (_, body, expected) => {
    expect(code(() => search(admin, 'tags', body))).toBe(expected);
  });
});

describe('order of checks', () => {
  test.each([
    ['limit=x&fields=nothing', 'INVALID_QUERY'],
    ['limit=-2', 'INVALID_QUERY'],
    ['limit=1.5', 'INVALID_QUERY'],
    ['limit=1&limit=2', 'INVALID_QUERY'],
    ['offset=-1', 'INVALID_QUERY'],
    ['page=x', 'INVALID_QUERY'],
    ['meta=everything', 'INVALID_QUERY'],
    ['search=a', 'planned'],
    ['search=a&search=b', 'INVALID_QUERY'],
    ['search[a]=b', 'INVALID_QUERY'],
    ['deep[comments][_limit]=1', 'planned'],
    ['deep={', 'INVALID_QUERY'],
    ['deep[_limit]=1', 'INVALID_QUERY'],
    ['deep[comments]=1', 'INVALID_QUERY'],
    ['deep[comments][_limit]=x', 'INVALID_QUERY'],
    ['deep[comments][_limit]=-2', 'INVALID_QUERY'],
    ['deep[comments][_foo]=1', 'INVALID_QUERY'],
    ['deep[comments][_aggregate][count]=*', 'planned'],
    ['deep[comments][_aggregate][count]=*&deep[author_id][_group]=name', 'INVALID_QUERY'],
    ['deep[comments][_aggregate][sum]=body&deep[author_id][_group]=nothing', 'FORBIDDEN'],
    ['deep[comments][_aggregate][nothing]=id&deep[nothing][_limit]=1', 'INVALID_QUERY'],
    ['deep[comments][_group]=id&deep[comments][_having][count][_gt]=$CURRENT_USER.team', 'FORBIDDEN'],
    ['deep[blocks][item:headings][_aggregate][count]=*', 'INVALID_QUERY'],
    ['deep[comments][_sort]=foo(id)', 'INVALID_QUERY'],
    ['deep[nothing][_limit]=x', 'INVALID_QUERY'],
    ['deep[nothing][_limit]=1', 'FORBIDDEN'],
    ['deep[title][_limit]=1', 'FORBIDDEN'],
    ['deep[comments][_filter][nothing]=1', 'FORBIDDEN'],
    ['deep[comments][_filter][id]=x', 'INVALID_QUERY'],
    ['deep[comments][_filter][id]=x&fields=nothing', 'FORBIDDEN'],
    ['deep[comments][_filter][article_id]=$CURRENT_USER.team', 'FORBIDDEN'],
    ['deep[comments][_sort]=nothing', 'FORBIDDEN'],
    ['deep[author_id][_sort]=articles', 'INVALID_QUERY'],
    ['deep[blocks][item:headings][_filter][text]=a', 'planned'],
    ['deep[blocks][_filter][item:headings][text]=a', 'planned'],
    ['deep[blocks][item:nothing][_limit]=1', 'FORBIDDEN'],
    ['alias[a]=title', 'planned'],
    ['alias[a]=nothing', 'FORBIDDEN'],
    ['alias[a]=password', 'FORBIDDEN'],
    ['alias[a.b]=title', 'INVALID_QUERY'],
    ['alias[a]=author_id.name', 'INVALID_QUERY'],
    ['alias[slug]=title', 'INVALID_QUERY'],
    ['alias[slug]=title&fields=nothing', 'FORBIDDEN'],
    ['alias[a]=title&sort=a', 'FORBIDDEN'],
    ['alias=title', 'INVALID_QUERY'],
    ['search=&unknown=1', 'planned'],
    ['fields=year(published_at),count(comments),count(keywords),count(metadata)', 'planned'],
    ['fields=year(title)', 'INVALID_QUERY'],
    ['fields=year(title),nothing', 'FORBIDDEN'],
    ['fields=count(author_id)', 'INVALID_QUERY'],
    ['fields=year(password)', 'FORBIDDEN'],
    ['fields=foo(title),nothing', 'INVALID_QUERY'],
    ['fields=author_id.count(articles),*.year(published_at)', 'planned'],
    ['fields=year(published_at)&alias[published_at_year]=title', 'planned'],
    ['fields=year(published_at),published_at_year&alias[published_at_year]=title', 'INVALID_QUERY'],
    ['sort=-year(published_at),count(comments)', 'planned'],
    ['sort=year(title)', 'INVALID_QUERY'],
    ['sort=year(nothing)', 'FORBIDDEN'],
    ['sort=foo(title)', 'INVALID_QUERY'],
    ['fields=nothing&filter[id][_foo]=1', 'INVALID_QUERY'],
    ['fields=nothing&filter[id]=x', 'FORBIDDEN'],
    ['filter[nothing]=1&sort=metadata', 'FORBIDDEN'],
    ['filter[id]=x', 'INVALID_QUERY'],
    ['sort=metadata', 'INVALID_QUERY'],
    ['sort=comments.body', 'INVALID_QUERY'],
    ['sort=comments', 'INVALID_QUERY'],
    ['sort=comments,nothing', 'FORBIDDEN'],
    ['sort=comments&filter[nothing]=1', 'FORBIDDEN'],
    ['sort=password', 'FORBIDDEN'],
    ['filter[password][_nnull]=true', 'FORBIDDEN'],
    ['filter[author_id]=$CURRENT_USER.team', 'FORBIDDEN'],
    ['fields=title.name', 'FORBIDDEN'],
    ['fields=blocks.item:headings.text', 'planned'],
    ['fields=blocks.item:headings.nothing', 'FORBIDDEN'],
    ['fields=blocks.item:authors.name', 'FORBIDDEN'],
    ['fields=blocks.item.text', 'planned'],
    ['fields=blocks.item.nothing', 'FORBIDDEN'],
    ['fields=comments.item:headings.text', 'FORBIDDEN'],
    [`fields=${'author_id.articles.'.repeat(5)}id`, 'INVALID_QUERY'],
    ['fields=*.*.*.*', 'planned'],
    ['fields=*.*.*.*.*.*.*.*.*.*&limit=0', 'planned'],
    ['fields=*.*.*.*.*.*.*.*.*.*&limit=1', 'INVALID_QUERY'],
  ])('%s', (query, expected) => {
    expect(code(() => list(admin, 'articles', query))).toBe(expected);
  });

  test('limits of the operator', () => {
    const strict = createPlanner(magazine, { limits: { defaultLimit: 10, maxLimit: 50, relations: 4 } });
    const run = (query: string) => strict.list(admin, { name: 'articles' }, query);
    expect(run('fields=id').plan.statement.text).toContain('LIMIT 10');
    expect(run('fields=id&limit=-1').plan).toMatchObject({ streamed: false });
    expect(run('fields=id&limit=-1').plan.statement.text).toContain('LIMIT 50');
    expect(code(() => run('limit=51'))).toBe('INVALID_QUERY');
    expect(code(() => run('fields=*.*'))).toBe('INVALID_QUERY');
  });
});

describe('hidden and unknown names', () => {
  const hidden = ['slug', 'rating', 'password', 'blocks', 'email', 'author_name'];
  const unknown = ['nothing', '__proto__', 'constructor', 'toString', 'id;--', 'id" desc', 't0.password', '*x'];
  const positions: readonly ((name: string) => string)[] = [
    (name) => `fields=${name}`,
    (name) => `fields=author_id.${name}`,
    (name) => `fields=${name}.id`,
    (name) => `sort=${name}`,
    (name) => `sort=-author_id.${name}`,
    (name) => `sort=${name}.id`,
    (name) => `fields=count(${name})`,
    (name) => `sort=year(${name})`,
    (name) => `alias=${JSON.stringify({ a: name })}`,
    (name) => `deep=${JSON.stringify({ [name]: { _limit: 1 } })}`,
    (name) => `deep=${JSON.stringify({ comments: { [name]: {} } })}`,
    (name) => `deep=${JSON.stringify({ comments: { _sort: [name] } })}`,
    (name) => `deep=${JSON.stringify({ [name]: { _aggregate: { count: '*' } } })}`,
    (name) => `deep=${JSON.stringify({ comments: { _group: [name] } })}`,
    (name) => `deep=${JSON.stringify({ comments: { _group: [`year(${name})`] } })}`,
    (name) => `deep=${JSON.stringify({ comments: { _aggregate: { min: [name] } } })}`,
    (name) => `deep=${JSON.stringify({ comments: { _group: ['id'], _sort: [`-max.${name}`] } })}`,
    (name) => `deep=${JSON.stringify({ comments: { _group: ['id'], [name]: { _limit: 1 } } })}`,
    (name) => `deep=${JSON.stringify({ comments: { _group: ['id'], _having: { max: { [name]: { _gt: 1 } } } } })}`,
    (name) => `deep=${JSON.stringify({ comments: { _filter: { [name]: { _null: true } } } })}`,
    (name) => `filter=${JSON.stringify({ [name]: { _eq: 'x' } })}`,
    (name) => `filter=${JSON.stringify({ [name]: 5 })}`,
    (name) => `filter=${JSON.stringify({ [name]: { _some: {} } })}`,
    (name) => `filter=${JSON.stringify({ author_id: { [name]: { _null: true } } })}`,
    (name) => `filter=${JSON.stringify({ [`count(${name})`]: 1 })}`,
    (name) => `filter=${JSON.stringify({ comments: { _none: { [name]: 1 } } })}`,
  ];
  const result = (query: string) => {
    try {
      list(visitor, 'articles', query.replaceAll('%', '%25').replaceAll('&', '%26'));
      return 'planned';
    } catch (error) {
      return error instanceof PlatformError ? `${error.code} ${error.message}` : String(error);
    }
  };

  test.each(positions.map((position) => [position('…'), position] as const))('%s', (_, position) => {
    // A key of that name is malformed JSON, and a dot in an alias is malformed too; both are judged before names.
    const safe = (name: string) =>
      !(name === '__proto__' && /^(?:filter|deep)/.test(position(name))) &&
      !(name.includes('.') && position(name).startsWith('alias'));
    const answers = new Set([...hidden, ...unknown].filter(safe).map((name) => result(position(name))));
    expect([...answers]).toEqual(['FORBIDDEN Not found, or you do not have permission.']);
  });

  test('collections too', () => {
    for (const query of ['', 'limit=x', 'filter[a]=1', 'filter[a][_foo]=1', 'fields=a.b']) {
      const answers = ['settings', 'statistics', 'nothing', '__proto__'].map((name) =>
        code(() => list(visitor, name, query)),
      );
      expect(new Set(answers).size).toBe(1);
    }
  });
});

describe('items of a many-to-any', () => {
  const all = { kind: 'and', of: [] } as const;
  const rule = (collection: string, ...fields: string[]) => ({ collection, read: [{ fields, where: all }] });
  const access = (name: string, ...link: string[]) => ({
    name,
    roles: [name],
    admin: false,
    collections: [rule('articles', 'id', 'blocks'), rule('blocks', ...link), rule('headings', 'id', 'text')],
  });
  const api = { ...magazine, access: [access('whole', 'id', 'collection', 'item'), access('half', 'id', 'item')] };
  const ask = (accessClass: string, query: string) =>
    code(() => createPlanner(api).list({ accessClass, user: null, role: null }, { name: 'articles' }, query));

  test.each([
    ['fields=blocks.item', 'planned', 'planned'],
    ['fields=blocks.item:headings.text', 'planned', 'FORBIDDEN'],
    ['fields=blocks.item.*', 'planned', 'FORBIDDEN'],
    ['fields=*.*.*', 'planned', 'planned'],
    ['fields=blocks.item:tags.name', 'FORBIDDEN', 'FORBIDDEN'],
    ['fields=blocks.item.name', 'FORBIDDEN', 'FORBIDDEN'],
    ['deep[blocks][item:headings][_filter][text]=a', 'planned', 'FORBIDDEN'],
    ['deep[blocks][item:tags][_limit]=1', 'FORBIDDEN', 'FORBIDDEN'],
    ['deep[blocks][_filter][item:headings][text]=a', 'planned', 'FORBIDDEN'],
    ['deep[blocks][_filter][item:tags][name]=a', 'FORBIDDEN', 'FORBIDDEN'],
  ])('%s', (query, whole, half) => {
    expect([ask('whole', query), ask('half', query)]).toEqual([whole, half]);
  });
});

describe('plans', () => {
  test('requests that differ in values share one plan', () => {
    const one = planner.list(
      admin,
      { name: 'articles' },
      'fields=id&filter[id][_in]=1,2&filter[title]=a&limit=7&offset=3',
    );
    const two = planner.list(
      admin,
      { name: 'articles' },
      'fields=id&filter[id][_in]=5&filter[title]=b&limit=8&offset=4',
    );
    expect(two.plan).toBe(one.plan);
    expect(one.parameters).toEqual(['{"1","2"}', 'a', '7', '3']);
    expect(two.parameters).toEqual(['{"5"}', 'b', '8', '4']);
  });

  test('the values of deep filters, searches and odd limits are open', () => {
    const ask = (a: string) =>
      planner.list(
        admin,
        { name: 'articles' },
        `fields=comments.id&search=s${a}&deep[comments][_filter][body]=${a}&deep[comments][_search]=n${a}` +
          `&deep[comments][_limit]=1${a}&deep[comments][_page]=2`,
      );
    expect(ask('1').plan).toBe(ask('2').plan);
    expect(ask('1').parameters).toEqual(['1', '%n1%', '11', '11', '%s1%']);
  });

  test('requests that differ in structure do not', () => {
    const texts = [
      'fields=id',
      'fields=id&limit=20',
      'fields=id&limit=7',
      'fields=id&limit=5000',
      'fields=id&limit=-1',
      'fields=id&offset=1',
      'fields=id&meta=total_count',
      'fields=id&sort=title',
      'fields=id&sort=-title',
      'fields=id&filter[title]=a',
      'fields=id&filter[title][_neq]=a',
      'fields=id&filter[title]=null',
      'fields=id&search=a',
      'fields=comments',
      'fields=comments&deep[comments][_limit]=7',
      'fields=comments&deep[comments][_limit]=5',
      'fields=comments&deep[comments][_limit]=-1',
      'fields=comments&deep[comments][_offset]=1',
      'fields=comments&deep[comments][_sort]=-id',
      'fields=comments&deep[comments][_search]=a',
      'fields=comments&deep[comments][_group]=id',
      'fields=comments&deep[comments][_group]=id&deep[comments][_sort]=-id',
      'fields=comments&deep[comments][_group]=id&deep[comments][_limit]=5',
      'fields=comments&deep[comments][_aggregate][count]=id',
      'fields=comments&deep[comments][_aggregate][count]=*',
      'fields=comments&deep[comments][_aggregate][count]=*&deep[comments][_having][count][_gt]=1',
      'fields=comments&deep[comments][_aggregate][count]=*&deep[comments][_having][count][_lt]=1',
      'fields=a&alias[a]=title',
    ].map((query) => planner.list(admin, { name: 'articles' }, query).plan.statement.name);
    expect(new Set(texts).size).toBe(texts.length - 2);
  });

  test('large lists are streamed', () => {
    const streamed = ['limit=-1', 'limit=1001', 'limit=1000', ''].map(
      (query) => planner.list(admin, { name: 'tags' }, query).plan.streamed,
    );
    expect(streamed).toEqual([true, true, false, false]);
  });

  test('every statement uses each of its parameters', () => {
    for (const { name } of collections) {
      const { plan } = planner.list(admin, { name }, 'fields=*.*&meta=*&limit=7');
      const used = new Set([...plan.statement.text.matchAll(/\$(\d+)/g)].map((match) => Number(match[1])));
      expect([...used].sort((a, b) => a - b)).toEqual(plan.binders.map((_, index) => index + 1));
    }
  });
});

describe('items that are no rows', () => {
  const fields = [
    field('id', 'integer', { nullable: true, filled: 'identity' }),
    field('role', 'uuid', { nullable: true }),
    field('collection', 'string'),
    field('action', 'string'),
    field('permissions', 'json', { nullable: true }),
    field('system', 'boolean', { writable: false, computed: { expression: '({}."id" IS NULL)' } }),
  ];
  const rules = collection('platform_permissions', '"platform"."platform_permissions"', {
    ...{ key: ['id'], system: true, implied: ['editor', 'author'], fields },
  });
  const roles = collection('platform_roles', '"platform"."platform_roles"', {
    ...{ key: ['id'], system: true, fields: [field('id', 'uuid'), field('name', 'string')] },
  });
  const read = [rules, roles].map(({ name, fields: named }) => ({
    ...{ collection: name, read: [{ fields: named.map((one) => one.name), where: always }] },
  }));
  const access = [{ name: 'admin', roles: ['admin'], admin: true, collections: read }];
  const system = createPlanner({ ...magazine, collections: [rules, roles], access });
  const table = '"platform"."platform_permissions" t0';

  test('stand beside the rows in lists and aggregates, with an order of their own', () => {
    for (const query of ['', 'cursor=', 'aggregate[count]=*', 'search=a', 'meta=*']) {
      const { plan, parameters } = system.list(admin, rules, query);
      const { text, tables } = plan.statement;
      expect(text).toContain('UNION ALL SELECT NULL::int4, t2."id", ');
      expect(text).not.toContain(table);
      expect(tables).toEqual(['"platform"."platform_permissions"', '"platform"."platform_roles"']);
      expect(parameters).toContain('{"editor","author"}');
    }
    const { text } = system.list(admin, rules, '').plan.statement;
    expect(text).toContain(
      'ORDER BY t0."id", t0."role", t0."collection", t0."action", t0."permissions"::pg_catalog.text',
    );
  });

  test('have no key, so reads by key look at the table alone', () => {
    expect(system.read(admin, rules, '1', '').plan.statement.text).toContain('(t0."id" IS NULL) FROM');
    expect(system.read(admin, rules, '1', '').plan.statement.text).toContain(`FROM ${table} WHERE`);
    expect(system.search(admin, rules, { keys: [1] }).plan.statement.text).toContain(`FROM ${table} WHERE`);
    expect(system.list(admin, roles, '').plan.statement.text).not.toContain('UNION');
  });
});
