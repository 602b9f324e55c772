/** What one request may cost: small texts that would keep this process or the database busy for long are refused. */
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../language/index.ts';
import { createPlanner } from '../planner.ts';
import { magazine } from '../testing/magazine.ts';

const planner = createPlanner(magazine);
const invalid = expect.objectContaining({ code: 'INVALID_QUERY' });

function search(query: JsonValue): string {
  const caller = { accessClass: 'admin', user: null, role: 'admin' };
  return planner.search(caller, { name: 'articles' }, { query }).plan.statement.text;
}

function many<Value>(count: number, create: (index: number) => Value): readonly Value[] {
  return Array.from({ length: count }, (_, index) => create(index));
}

test('"fields" has no more elements than lists may have', () => {
  expect(search({ fields: many(500, (index) => ['id', 'title', 'comments.id'][index % 3] ?? '') })).toContain('SELECT');
  expect(() => search({ fields: many(501, () => 'id') })).toThrow(invalid);
});

test('wildcards do not multiply paths without bound', () => {
  const start = performance.now();
  expect(() => search({ fields: many(500, (index) => `*.*.*.*.*.*.*.*.*.z${index}`) })).toThrow(invalid);
  // Takes milliseconds; without the bound it is minutes.
  expect(performance.now() - start).toBeLessThan(5_000);
});

test.each<[string, (count: number) => JsonValue]>([
  ['some', (count) => ({ _and: many(count, () => ({ comments: {} })) })],
  ['none', (count) => ({ _or: many(count, (index) => ({ comments: { _none: { id: index } } })) })],
  ['nested', (count) => ({ _or: many(count / 2, (index) => ({ comments: { article_id: { title: `${index}` } } })) })],
  ['count', (count) => ({ _or: many(count, (index) => ({ 'count(comments)': { _eq: index } })) })],
])('a filter looks through a bounded number of relations: %s', (_, filter) => {
  expect(search({ filter: filter(200) })).toContain('comments');
  expect(() => search({ filter: filter(202) })).toThrow(invalid);
});

test('the filters of nested lists count together', () => {
  const filter = (count: number) => ({ _filter: { _or: many(count, () => ({ article_id: {} })) } });
  const query = (count: number) => ({
    alias: { again: 'comments' },
    fields: ['comments.id', 'again.id'],
    deep: { comments: filter(100), again: filter(count) },
  });
  expect(search(query(100))).toContain('OFFSET 0');
  expect(() => search(query(101))).toThrow(invalid);
});

test('dynamic values in a list are comparisons, of which there is a bounded number', () => {
  const list = (count: number) => many(count, (index) => `$NOW(${index} s)`);
  expect(search({ filter: { published_at: { _in: list(10_000) } } })).toContain('$10000');
  expect(() => search({ filter: { published_at: { _in: list(10_001) } } })).toThrow(invalid);
  expect(() => search({ filter: { published_at: { _nin: list(10_001).join() } } })).toThrow(invalid);
});

test('lists have a bounded number of values, also together', () => {
  const list = (count: number, from = 0) => many(count, (index) => index + from);
  expect(search({ filter: { id: { _in: list(10_000) } } })).toContain('ANY ($1');
  expect(() => search({ filter: { id: { _in: list(10_001) } } })).toThrow(invalid);
  const halves = (count: number): JsonValue => ({
    filter: { id: { _in: list(5_000) } },
    fields: ['comments.id'],
    deep: { comments: { _filter: { id: { _nin: list(count) } } } },
  });
  expect(search(halves(5_000))).toContain('ALL ($1');
  expect(() => search(halves(5_001))).toThrow(invalid);
});

test('having counts as a filter does', () => {
  const list = (count: number) => many(count, (index) => index);
  const grouped = (having: JsonValue): JsonValue => ({ groupBy: ['status'], having });
  expect(search(grouped({ count: { _in: list(10_000) } }))).toContain('HAVING');
  expect(() => search(grouped({ count: { _in: list(10_001) } }))).toThrow(invalid);
  const both = { filter: { id: { _in: list(9_000) } }, groupBy: ['status'], having: { count: { _in: list(1_001) } } };
  expect(() => search(both)).toThrow(invalid);
  expect(() => search(grouped({ max: { title: { _contains: 'x'.repeat(10_001) } } }))).toThrow(invalid);
  const nested = { _aggregate: { count: '*' }, _having: { count: { _in: list(10_001) } } };
  expect(() => search({ fields: ['comments'], deep: { comments: nested } })).toThrow(invalid);
});

test('texts that are looked for have a bounded length, also together', () => {
  const text = (length: number) => 'x'.repeat(length);
  expect(search({ filter: { title: { _contains: text(9_998) } } })).toContain('LIKE');
  expect(() => search({ filter: { title: { _icontains: text(10_001) } } })).toThrow(invalid);
  expect(search({ filter: { title: { _eq: text(10_001) } } })).toContain('=');
  expect(() => search({ filter: { _or: many(20, () => ({ title: { _starts_with: text(600) } })) } })).toThrow(invalid);
  expect(search({ search: text(1_000) })).toContain('ILIKE');
  expect(() => search({ search: text(1_001) })).toThrow(invalid);
  expect(() => search({ fields: ['comments.id'], deep: { comments: { _search: text(1_001) } } })).toThrow(invalid);
});

test('lists in lists have a bounded number of rows, known beforehand', () => {
  const nested = (limit: number, inner: number, deep?: JsonValue): JsonValue => ({
    fields: [`${'comments.article_id.'.repeat(inner)}id`],
    limit,
    ...(deep !== undefined && { deep }),
  });
  expect(search(nested(100, 2))).toContain('ARRAY');
  expect(search(nested(-1, 1))).toContain('ARRAY');
  expect(search(nested(1000, 1))).toContain('ARRAY');
  expect(() => search(nested(11, 3))).toThrow(/11000000 rows .* more than 1000000;/);
  expect(() => search(nested(1, 3))).not.toThrow();
  expect(() => search(nested(-1, 2))).toThrow(invalid);
  // Lists beside each other do not multiply, nor do the keys at the end of a wildcard.
  expect(search({ fields: ['*.*.*'] })).toContain('ARRAY');
  // Limits that share a plan are told apart all the same.
  const limited = (limit: number) => ({ comments: { article_id: { comments: { _limit: limit } } } });
  expect(search(nested(50, 2, limited(150)))).toContain('ARRAY');
  expect(search(nested(100, 2, limited(99)))).toContain('LIMIT $');
  expect(() => search(nested(100, 2, limited(101)))).toThrow(invalid);
  const all = { comments: { _limit: -1, article_id: { comments: { _limit: -1 } } } };
  expect(search(nested(1, 2, all))).toContain('ARRAY');
  expect(() => search(nested(2, 2, all))).toThrow(invalid);
  expect(() => search(nested(-1, 2, all))).toThrow(invalid);
});

describe('cost', () => {
  const cost = (query: JsonValue, name = 'articles'): number => {
    const caller = { accessClass: 'admin', user: null, role: 'admin' };
    return planner.search(caller, { name }, { query }).plan.cost;
  };

  test('is 10 for the list, 1 for each value, 10 more for each list within', () => {
    expect(cost({ fields: ['id'] })).toBe(11);
    expect(cost({ fields: ['id', 'title'] })).toBe(12);
    expect(cost({ fields: ['comments'] })).toBe(21);
    expect(cost({ fields: ['comments.id', 'comments.body'] })).toBe(23);
    expect(cost({ fields: ['author_id.id'] })).toBe(12);
    expect(cost({ fields: ['count(comments)'] })).toBe(21);
    expect(cost({ aggregate: { count: ['id', 'title'] }, groupBy: ['status'] })).toBe(13);
    expect(cost({ aggregate: { count: '*' }, groupBy: ['status', 'count(comments)'] })).toBe(23);
    const sort = ['-sum.views', 'count', 'max.views', 'status'];
    expect(cost({ aggregate: { count: '*', max: 'views' }, groupBy: ['status'], sort })).toBe(14);
    const aggregated = (read: JsonValue) => cost({ fields: ['comments'], deep: { comments: read } });
    expect(aggregated({ _aggregate: { count: '*' } })).toBe(22);
    expect(aggregated({ _aggregate: { count: '*' }, _group: ['id', 'body'] })).toBe(24);
    const counts = { _aggregate: { count: '*' }, _group: 'count(comments)' };
    expect(cost({ fields: ['articles'], deep: { articles: counts } }, 'authors')).toBe(33);
  });

  test('counts what filters look through and texts that they look for, at every level', () => {
    const fields = ['id'];
    expect(cost({ fields, filter: { id: { _in: [1, 2, 3] }, title: 'a' } })).toBe(11);
    expect(cost({ fields, filter: { comments: { id: 1 } } })).toBe(21);
    expect(cost({ fields, filter: { title: { _icontains: 'a' } } })).toBe(61);
    const deep = { comments: { _filter: { body: { _starts_with: 'a' } } } };
    expect(cost({ fields: ['comments.id'], deep })).toBe(72);
  });

  test('counts what orders look through or count, at every level, each name once', () => {
    const fields = ['id'];
    expect(cost({ fields, sort: ['title', '-id', 'year(published_at)'] })).toBe(11);
    expect(cost({ fields, sort: ['author_id.name', '-author_id.id'] })).toBe(31);
    expect(cost({ fields, sort: many(500, (index) => `${index % 2 === 0 ? '-' : ''}count(comments)`) })).toBe(21);
    expect(cost({ fields: ['comments.id'], deep: { comments: { _sort: 'article_id.author_id.name' } } })).toBe(42);
  });

  test('is bounded, and the refusal tells the figure and the bound', () => {
    const texts = (count: number) => ({ _or: many(count, (index) => ({ title: { _icontains: `${index}` } })) });
    expect(search({ fields: ['id'], filter: texts(99) })).toContain('ILIKE');
    expect(() => search({ filter: texts(1_200) })).toThrow(/costs 60\d\d\d, which is more than 5000:/);
    expect(() => search({ aggregate: { count: ['*'] }, filter: texts(1_200) })).toThrow(/costs 60011/);
  });
});

test('only the first subqueries may become joins, whose order PostgreSQL would search for too long', () => {
  const filter = (count: number) => ({ _and: many(count, (index) => ({ comments: { id: { _gt: index } } })) });
  expect(search({ fields: ['id'], filter: filter(8) })).not.toContain('OFFSET 0');
  expect(search({ fields: ['id'], filter: filter(30) }).match(/ OFFSET 0\)/g)).toHaveLength(22);
});
