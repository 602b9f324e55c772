import { describe, expect, test } from 'vitest';
import type { CompiledApi } from '../../language/index.ts';
import { createPlanner } from '../planner.ts';
import { magazine } from '../testing/magazine.ts';

/** The statement of a list for everybody's eyes, in the SQL of a server. */
function sqlOf(dialect: CompiledApi['dialect'], query: string, collections = magazine.collections): string {
  const planner = createPlanner({ ...magazine, dialect, collections });
  const caller = { accessClass: 'admin', user: null, role: 'admin' };
  return planner.list(caller, { name: 'articles' }, query).plan.statement.text;
}

/** The same tables, of which more is known about the relations of a name. */
function changed(name: string, facts: object): CompiledApi['collections'] {
  return magazine.collections.map((collection) => {
    const relations = collection.relations.map((one) => (one.name === name ? { ...one, ...facts } : one));
    return { ...collection, relations };
  });
}

describe('a list of one table', () => {
  test('needs no page on MySQL and MariaDB', () => {
    const query = 'fields=id,author_id.name&filter[rating][_gt]=3&sort=-title&limit=5';
    for (const dialect of ['mysql', 'mariadb'] as const) {
      expect(sqlOf(dialect, query)).toMatch(
        / FROM "public"\."articles" t0 WHERE .* ORDER BY t0\."title" DESC, t0\."id" LIMIT 5$/,
      );
    }
    expect(sqlOf('postgres', query)).toMatch(/LIMIT 5\) t1 ORDER BY t1\."title" DESC, t1\."id"$/);
  });

  test.each(['filter[tags][name][_eq]=a', 'sort=author_id.name'])('is cut in a page with %s', (query) => {
    expect(sqlOf('mysql', `fields=id,author_id.name&limit=5&${query}`)).toMatch(/LIMIT 5\) t\d+ ORDER BY /);
  });
});

describe('a page within a row', () => {
  const deep = 'deep[comments][_sort]=-id&deep[comments][_limit]=5';
  const comments = `fields=comments.body&${deep}`;

  test('is ordered on MySQL by what leads to its rows first, in one direction with what follows', () => {
    expect(sqlOf('mysql', comments)).toContain(
      'WHERE t1."article_id" = t0."id" ORDER BY t1."article_id" DESC, t1."id" DESC LIMIT 5) t2',
    );
  });

  test('is ordered on MySQL by the junction, which has the same keys', () => {
    expect(sqlOf('mysql', 'fields=tags.name')).toContain(
      'ORDER BY t2."article_id", t2."sort", t2."tag_id" LIMIT 100) t3',
    );
  });

  test('is ordered on PostgreSQL by what leads to its rows first, where an index has this order', () => {
    const ordered = changed('comments', { ordered: ['"id"'] });
    // It is not told that this is one value.
    expect(sqlOf('postgres', `fields=comments.article_id.title&${deep}`, ordered)).toContain(
      'WHERE t2."article_id" = ANY (ARRAY[t1."id"]) ORDER BY t2."article_id" DESC, t2."id" DESC LIMIT 5) t3',
    );
    expect(sqlOf('postgres', 'fields=tags.name')).toContain(
      'WHERE t3."article_id" = ANY (ARRAY[t1."id"]) ORDER BY t3."article_id", t3."sort", t3."tag_id" LIMIT 100)',
    );
  });

  test('is sorted on PostgreSQL apart from its index where none has its order', () => {
    expect(sqlOf('postgres', comments)).toContain(
      'FROM (SELECT t2."id", t2."body" FROM (SELECT t2."id", t2."body" FROM "public"."comments" t2 WHERE t2."article_id" = t1."id" OFFSET 0) t2 ORDER BY t2."id" DESC LIMIT 5) t3 ORDER BY t3."id" DESC)',
    );
    expect(sqlOf('postgres', 'fields=tags.name&deep[tags][_sort]=name&deep[tags][_limit]=5')).toContain(
      'WHERE t3."article_id" = t1."id" ORDER BY t2."name", t3."tag_id" LIMIT 5)',
    );
  });

  test('is ordered elsewhere as it was asked for', () => {
    expect(sqlOf('mariadb', comments)).not.toContain('ORDER BY t1."article_id"');
    expect(sqlOf('postgres', 'fields=comments.body&deep[comments][_limit]=-1')).toContain(
      'WHERE t2."article_id" = t1."id" ORDER BY t2."id")',
    );
  });
});

const withSought = changed('tags', { sought: ['name'] });

describe('the far side of an m2m', () => {
  const lookup = 'CROSS JOIN LATERAL (SELECT';
  const filtered = (filter: string): string => sqlOf('postgres', `fields=tags.name&deep[tags][_filter]${filter}`);

  test('is looked up on PostgreSQL link by link, with just the columns that are needed', () => {
    expect(sqlOf('postgres', 'fields=tags.name&deep[tags][_sort]=-name')).toContain(
      `t3 ${lookup} t2."name", t2."id" FROM "public"."tags" t2 WHERE t2."id" = t3."tag_id" OFFSET 0) t2 `,
    );
  });

  test.each([
    '[name][_contains]=a',
    '[id][_gt]=3',
    '[name][_neq]=a',
    '[_or][0][name][_eq]=a&deep[tags][_filter][_or][1][id][_gt]=2',
  ])('is looked up where a filter may leave many: %s', (filter) => expect(filtered(filter)).toContain(lookup));

  test.each(['[name][_eq]=a', '[id][_in]=1,2', '[_and][0][name][_eq]=a&deep[tags][_filter][_and][1][id][_gt]=2'])(
    'is joined where a filter names values: %s',
    (filter) => expect(filtered(filter)).not.toContain(lookup),
  );

  test.each(['[name][_eq]=a', '[_and][0][name][_eq]=a&deep[tags][_filter][_and][1][id][_gt]=2'])(
    'is looked up by the few targets that an index finds: %s',
    (filter) => {
      const found = `(SELECT t4."id" AS k FROM "public"."tags" t4 WHERE t4."name" = ANY (ARRAY[$1::text]) ORDER BY t4."name" LIMIT 101) t5`;
      const sql = sqlOf('postgres', `fields=tags.name&deep[tags][_filter]${filter}`, withSought);
      expect(sql).toContain(lookup);
      expect(sql).toContain(
        `t3."tag_id" = ANY (COALESCE((SELECT CASE WHEN pg_catalog.count(*) <= 100 THEN COALESCE(pg_catalog.array_agg(t5.k), '{}') END FROM ${found}), ARRAY(SELECT t6."tag_id"::int4 FROM "public"."articles_tags" t6 WHERE t6."article_id" = t1."id")))`,
      );
    },
  );

  test('is looked up so, too, where each link stands there once; no index of the value can serve the look-up', () => {
    const paired = changed('tags', { sought: ['name'], paired: true, sort: undefined });
    const sql = sqlOf('postgres', 'fields=tags.name&deep[tags][_filter][name][_eq]=a', paired);
    expect(sql).toContain('FROM "public"."tags" t2 WHERE t2."id" = t3."tag_id" OFFSET 0) t2');
    expect(sql).toContain('AND t2."name" = $1::text) ORDER BY t3."article_id", t3."tag_id" LIMIT 100)');
  });

  test.each([
    '[name][_in]=a,b',
    '[name][_icontains]=a',
    '[_or][0][name][_eq]=a&deep[tags][_filter][_or][1][id][_gt]=2',
  ])('is not where an index does not find all of them by one value: %s', (filter) =>
    expect(sqlOf('postgres', `fields=tags.name&deep[tags][_filter]${filter}`, withSought)).not.toContain('LIMIT 101'),
  );

  test('is looked up by the keys of all links of a parent, where each stands there once', () => {
    const paired = changed('tags', { paired: true, sort: undefined });
    const keys = `"public"."tags" t2 WHERE t2."id" = ANY (ARRAY(SELECT t3."tag_id" FROM "public"."articles_tags" t3 WHERE t3."article_id" = t1."id"))`;
    expect(sqlOf('postgres', 'fields=tags.name', paired)).toContain(`FROM ${keys} ORDER BY t2."id" LIMIT 100)`);
    const sorted = 'fields=tags.name&deep[tags][_sort]=-name&deep[tags][_limit]=-1';
    expect(sqlOf('postgres', sorted, paired)).toContain(`FROM ${keys} ORDER BY t2."name" DESC, t2."id")`);
    expect(sqlOf('postgres', 'fields=tags.name', changed('tags', { paired: true }))).toContain(lookup);
  });

  test('is joined where it is a view, in which no lookup may be fast', () => {
    const views = magazine.collections.map((one) => (one.name === 'tags' ? { ...one, opaque: true as const } : one));
    expect(sqlOf('postgres', 'fields=tags.name')).toContain(lookup);
    expect(sqlOf('postgres', 'fields=tags.name', views)).not.toContain(lookup);
  });

  test('is joined on servers that find it by its key themselves', () => {
    for (const dialect of ['mysql', 'mariadb'] as const)
      expect(sqlOf(dialect, 'fields=tags.name')).not.toContain(lookup);
  });
});
