import { describe, expect, test } from 'vitest';
import type { Caller } from '../../caller.ts';
import { PlatformError } from '../../errors.ts';
import { createUncounted } from '../../language/values/bounded-cache.ts';
import { createPlanner } from '../planner.ts';
import { magazine } from '../testing/magazine.ts';

const planner = createPlanner(magazine, { createCache: createUncounted });
const admin: Caller = { accessClass: 'admin', user: null, role: 'admin' };
const visitor: Caller = { accessClass: 'public', user: null, role: null };

function list(caller: Caller, collection: string, query: string): string {
  const { plan, parameters } = planner.list(caller, { name: collection }, query);
  return `${plan.statement.text}\n${JSON.stringify(parameters)}`;
}

describe('the SQL of aggregates', () => {
  test('counting rows', () => {
    expect(list(admin, 'articles', 'aggregate[count]=*')).toMatchInlineSnapshot(`
      "SELECT (pg_catalog.count(*))::pg_catalog.text FROM (SELECT 1 FROM "public"."articles" t0) t1
      []"
    `);
  });

  test('groups, functions of several fields, an order and a page', () => {
    expect(
      list(
        admin,
        'articles',
        'groupBy=status,year(published_at)&aggregate[sum]=views&aggregate[avg]=rating,views&sort=-sum.views&limit=7&page=2',
      ),
    ).toMatchInlineSnapshot(`
      "SELECT t1.x0::text, t1.x1, ROW((pg_catalog.sum(t1.x2))::pg_catalog.text), ROW((pg_catalog.avg(t1.x3))::pg_catalog.text, (pg_catalog.avg(t1.x2))::float8::pg_catalog.text) FROM (SELECT t0."status" AS x0, CASE WHEN pg_catalog.isfinite((t0."published_at" AT TIME ZONE 'UTC')) THEN pg_catalog.floor(pg_catalog.date_part('year', (t0."published_at" AT TIME ZONE 'UTC')))::int4 END AS x1, t0."views" AS x2, t0."rating" AS x3 FROM "public"."articles" t0) t1 GROUP BY t1.x0, t1.x1 ORDER BY pg_catalog.sum(t1.x2) DESC, t1.x0, t1.x1 LIMIT $1::pg_catalog.int8 OFFSET $2::pg_catalog.int8
      ["7","7"]"
    `);
  });

  test('values follow each other: filter, having, limit', () => {
    expect(
      list(admin, 'articles', 'groupBy=status&filter[views][_gt]=1&having[max][title][_contains]=x&limit=7'),
    ).toMatchInlineSnapshot(`
      "SELECT t1.x0::text FROM (SELECT t0."status" AS x0, t0."title" AS x1 FROM "public"."articles" t0 WHERE t0."views" > $1::int4) t1 GROUP BY t1.x0 HAVING (pg_catalog.max(t1.x1))::pg_catalog.text COLLATE pg_catalog."default" LIKE $2::pg_catalog.text ORDER BY t1.x0 LIMIT $3::pg_catalog.int8
      ["1","%x%","7"]"
    `);
  });

  test('counts of items survive an empty answer', () => {
    expect(list(admin, 'articles', 'groupBy=status&filter[id]=1&meta=*&sort=-count')).toMatchInlineSnapshot(`
      "SELECT t2.c0, t2.c1, t3.p IS NOT NULL, t3.o0 FROM (SELECT (SELECT pg_catalog.count(*) FROM "public"."articles" t0) AS c0, (SELECT pg_catalog.count(*) FROM "public"."articles" t0 WHERE t0."id" = $1::int8) AS c1) t2 LEFT JOIN (SELECT TRUE AS p, t1.x0::text AS o0, pg_catalog.count(*) AS s0, t1.x0 AS s1 FROM (SELECT t0."status" AS x0 FROM "public"."articles" t0 WHERE t0."id" = $1::int8) t1 GROUP BY t1.x0 ORDER BY s0 DESC, s1 LIMIT 100) t3 ON TRUE ORDER BY t3.s0 DESC, t3.s1
      ["1"]"
    `);
  });

  test('the rows of a relation, per parent', () => {
    expect(
      list(
        admin,
        'articles',
        'fields=id,comments&deep[comments][_group]=author_name&deep[comments][_aggregate][max]=id&limit=5' +
          '&deep[comments][_filter][body]=b&deep[comments][_having][count][_gt]=1&deep[comments][_limit]=7',
      ),
    ).toMatchInlineSnapshot(`
      "SELECT t1."id", ARRAY(SELECT ROW(t3.x0, ROW(pg_catalog.max(t3.x1))) FROM (SELECT t2."author_name" AS x0, t2."id" AS x1 FROM "public"."comments" t2 WHERE (t2."article_id" = t1."id" AND t2."body" = $1::text)) t3 GROUP BY t3.x0 HAVING pg_catalog.count(*) > $2::int8 ORDER BY t3.x0 LIMIT $3::pg_catalog.int8) FROM (SELECT t0."id" FROM "public"."articles" t0 ORDER BY t0."id" LIMIT 5) t1 ORDER BY t1."id"
      ["b","1","7"]"
    `);
  });

  test('named items are counted in front', () => {
    const query = { aggregate: { count: '*' }, limit: 7 };
    const { plan, parameters, rows } = planner.search(admin, { name: 'tags' }, { keys: [1, 2, '1'], query });
    expect([plan.statement.text, parameters, rows]).toMatchInlineSnapshot(`
      [
        "SELECT t2.c0, t3.p IS NOT NULL, t3.o0 FROM (SELECT (SELECT pg_catalog.count(*) FROM "public"."tags" t0 WHERE t0."id" = ANY ($1::int4[])) AS c0) t2 LEFT JOIN (SELECT TRUE AS p, (pg_catalog.count(*))::pg_catalog.text AS o0 FROM (SELECT 1 FROM "public"."tags" t0 WHERE t0."id" = ANY ($1::int4[])) t1) t3 ON TRUE",
        [
          "{"1","2"}",
        ],
        2,
      ]
    `);
    expect(plan).toMatchObject({ countsNamed: true, streamed: false });
  });

  test('rules hold inside', () => {
    expect(list(visitor, 'articles', 'groupBy=title&aggregate[count]=*')).toMatchInlineSnapshot(`
      "SELECT t1.x0, (pg_catalog.count(*))::pg_catalog.text FROM (SELECT t0."title" AS x0 FROM "public"."articles" t0 WHERE t0."status" = $1::"public"."article_status") t1 GROUP BY t1.x0 ORDER BY t1.x0 LIMIT 100
      ["published"]"
    `);
  });
});

describe('plans', () => {
  const plan = (query: string) => planner.list(admin, { name: 'articles' }, query).plan;

  test('requests that differ in values share one', () => {
    const one = plan('groupBy=status&having[count][_gt]=1&filter[id][_gt]=1&limit=7');
    expect(plan('groupBy=status&having[count][_gt]=2&filter[id][_gt]=2&limit=8')).toBe(one);
    expect(plan('groupBy=status&having[count][_lt]=2&filter[id][_gt]=2&limit=8')).not.toBe(one);
    expect(plan('groupBy=status&having[count][id][_gt]=2&filter[id][_gt]=2&limit=8')).not.toBe(one);
  });

  test('a file has one of its own for every format', () => {
    expect(plan('export=csv')).not.toBe(plan('export=json'));
    expect(plan('export=csv&fields=id,title')).not.toBe(plan('fields=id,title'));
    expect(plan('export=csv').exported).toEqual({ format: 'csv', name: 'articles' });
  });

  test('many groups are streamed, one row is not', () => {
    expect(plan('groupBy=id&limit=-1').streamed).toBe(true);
    expect(plan('aggregate[count]=*&limit=-1').streamed).toBe(false);
  });
});

test.each([
  ['aggregate[count]=password', 'FORBIDDEN'],
  ['groupBy=password', 'FORBIDDEN'],
  ['export=csv&fields=password', 'FORBIDDEN'],
  ['export=csv&fields=*', 'planned'],
  ['groupBy=metadata,nothing', 'FORBIDDEN'],
  ['groupBy=metadata&filter[author_id]=$CURRENT_USER.team', 'FORBIDDEN'],
  ['groupBy=status&having={"count":{"_gt":"$CURRENT_USER.team"}}', 'FORBIDDEN'],
  ['groupBy=nothing&aggregate[nothing]=id', 'INVALID_QUERY'],
])('%s is %s', (query, expected) => {
  let code = 'planned';
  try {
    list(admin, 'articles', query);
  } catch (error) {
    code = error instanceof PlatformError ? error.code : String(error);
  }
  expect(code).toBe(expected);
});
