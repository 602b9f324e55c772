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

test('only the first subqueries may become joins, whose order PostgreSQL would search for too long', () => {
  const filter = (count: number) => ({ _and: many(count, (index) => ({ comments: { id: { _gt: index } } })) });
  expect(search({ filter: filter(8) })).not.toContain('OFFSET 0');
  expect(search({ filter: filter(30) }).match(/ OFFSET 0\)/g)).toHaveLength(22);
});
