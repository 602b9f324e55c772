/** What one request may cost: small texts that would keep this process or the database busy for long are refused. */
import { expect, test } from 'vitest';
import type { JsonValue } from '../contract/index.ts';
import { createPlanner } from './planner.ts';
import { magazine } from './testing/magazine.ts';

const planner = createPlanner(magazine);
const invalid = expect.objectContaining({ code: 'INVALID_QUERY' });

function search(query: JsonValue): string {
  const caller = { accessClass: 'admin', user: null, role: 'admin' };
  return planner.search(caller, { name: 'articles' }, { query }).plan.statement.text;
}

function many<Value>(count: number, make: (index: number) => Value): readonly Value[] {
  return Array.from({ length: count }, (_, index) => make(index));
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
  expect(search(nested(100, 3))).toContain('ARRAY');
  expect(search(nested(-1, 2))).toContain('ARRAY');
  expect(search(nested(1000, 3))).toContain('ARRAY');
  expect(() => search(nested(11, 4))).toThrow(/1100000000 rows/);
  expect(() => search(nested(1, 4))).not.toThrow();
  expect(() => search(nested(-1, 4))).toThrow(invalid);
  // Lists beside each other do not multiply, nor do the keys at the end of a wildcard.
  expect(search({ fields: ['*.*.*.*'] })).toContain('ARRAY');
  // Limits that share a plan are told apart all the same.
  const limited = (limit: number) => ({ comments: { article_id: { comments: { _limit: limit } } } });
  expect(search(nested(1000, 2, limited(1500)))).toContain('ARRAY');
  expect(search(nested(1000, 3, limited(99)))).toContain('LIMIT $');
  expect(() => search(nested(1000, 3, limited(101)))).toThrow(invalid);
  const all = { comments: { _limit: -1, article_id: { comments: { _limit: -1 } } } };
  expect(search(nested(100, 2, all))).toContain('ARRAY');
  expect(search(nested(-1, 2, all))).toContain('ARRAY');
  expect(() => search(nested(-1, 3, all))).toThrow(invalid);
});

test('only the first subqueries may become joins, whose order PostgreSQL would search for too long', () => {
  const filter = (count: number) => ({ _and: many(count, (index) => ({ comments: { id: { _gt: index } } })) });
  expect(search({ fields: ['id'], filter: filter(8) })).not.toContain('OFFSET 0');
  expect(search({ fields: ['id'], filter: filter(30) }).match(/ OFFSET 0\)/g)).toHaveLength(22);
});
