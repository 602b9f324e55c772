import { expect, test } from 'vitest';
import type { ReadPlan } from '../query/plan/plan.ts';
import { frameOf, SplicedRows } from './spliced.ts';

const plan: ReadPlan = {
  statement: { name: 'a', text: 'SELECT' },
  binders: [],
  cost: 0,
  many: true,
  fields: [],
  meta: [],
  streamed: false,
};

test('answers that are waited for own no memory, and each is written suffix the one before', () => {
  const { prefix, suffix } = frameOf('books');
  const waiting = Array.from({ length: 100 }, () => new SplicedRows(plan, prefix, suffix));
  for (const rows of waiting) rows.end();
  // One slab, or two where the tests before have left one nearly full.
  expect(new Set(waiting.map((rows) => rows.end().buffer)).size).toBeLessThanOrEqual(2);
  expect(waiting.map((rows) => rows.end().toString())).toEqual(waiting.map(() => '{"data":{"books":[]}}'));
});

test('one item that is not there is null', () => {
  expect(new SplicedRows({ ...plan, many: false }).end().toString()).toBe('null');
});
