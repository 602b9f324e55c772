import { expect, test } from 'vitest';
import { createBoundedCache } from '../../language/values/bounded-cache.ts';
import type { Input } from '../compile/input.ts';
import { type PreparedRead, rememberReads } from './item-read.ts';

const plan: PreparedRead['plan'] = {
  statement: { name: 'a', text: 'SELECT' },
  binders: [],
  cost: 0,
  many: true,
  fields: [],
  meta: [],
  streamed: false,
};
const fixed: Input = { fixed: true, value: 5 };
const limit: Input = { fixed: false, read: ({ limit: value }) => value };

/** Prepares by the inputs and tells how often that was done. */
function counting(inputs: readonly Input[], name = 'read', reads = createBoundedCache<PreparedRead>(10)) {
  let prepared = 0;
  const prepare = rememberReads(reads, name, inputs, ({ limit: value }) => {
    prepared += 1;
    if (value === 'refused') throw new RangeError('refused');
    return { plan, values: [], bounds: [String(value)] };
  });
  return { prepare, count: () => prepared };
}

test('what depends on no variable is prepared once', () => {
  const { prepare, count } = counting([fixed]);
  expect(prepare({ limit: 1 })).toBe(prepare({ limit: 2 }));
  expect(count()).toBe(1);
});

test('what depends on variables is prepared once for each of their values', () => {
  const { prepare, count } = counting([fixed, limit]);
  expect([1, 2, '1', 1, 2].map((value) => prepare({ limit: value, other: {} }).bounds[0])).toEqual([
    '1',
    '2',
    '1',
    '1',
    '2',
  ]);
  expect(count()).toBe(3);
});

test('reads of one cache do not meet', () => {
  const reads = createBoundedCache<PreparedRead>(10);
  const [one, other] = [counting([limit], 'one', reads), counting([limit], 'other', reads)];
  one.prepare({ limit: 1 });
  other.prepare({ limit: 1 });
  expect([one.count(), other.count()]).toEqual([1, 1]);
});

test('what was refused, and what is very long, is prepared again', () => {
  const { prepare, count } = counting([limit]);
  for (let time = 0; time < 2; time++) expect(() => prepare({ limit: 'refused' })).toThrow('refused');
  expect(count()).toBe(2);
  for (let time = 0; time < 2; time++) prepare({ limit: 'x'.repeat(3_000) });
  expect(count()).toBe(4);
});
