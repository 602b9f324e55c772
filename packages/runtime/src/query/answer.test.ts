import { describe, expect, test } from 'vitest';
import type { ShapeField } from '../json/shape.ts';
import { int8, row, text } from '../json/testing/binary.ts';
import { createAnswerWriter } from './answer.ts';
import type { ReadPlan } from './plan/plan.ts';

const fields: readonly ShapeField[] = [{ key: 'name', shape: { kind: 'scalar', wire: 'text' } }];
const statement = { name: 'r_test', text: 'SELECT 1' };
const truth = Buffer.from([1]);
const lie = Buffer.from([0]);

function answerOf(part: Partial<ReadPlan>, rows: readonly Buffer[]): string {
  const result = begin(part);
  for (const bytes of rows) result.row(bytes, 0, bytes.length);
  return result.end().toString();
}

function begin(part: Partial<ReadPlan>) {
  return createAnswerWriter({
    statement,
    binders: [],
    cost: 0,
    many: true,
    fields,
    meta: [],
    streamed: false,
    ...part,
  })();
}

describe('a list', () => {
  test('of nothing', () => expect(answerOf({}, [])).toBe('{"data":[]}'));
  test('of items', () => {
    expect(answerOf({}, [row(text('a')), row(text('b'))])).toBe('{"data":[{"name":"a"},{"name":"b"}]}');
  });
});

describe('an item', () => {
  test('that is there', () => expect(answerOf({ many: false }, [row(text('a'))])).toBe('{"data":{"name":"a"}}'));
  test('that is not', () => {
    const result = begin({ many: false });
    expect(result.items).toBe(0);
    expect(result.end().toString()).toBe('{"data":null}');
  });
});

describe('meta', () => {
  const both: Partial<ReadPlan> = { meta: ['total_count', 'filter_count'] };
  test('comes from the first row and follows the items', () => {
    const rows = [row(int8(12n), int8(2n), truth, text('a')), row(int8(12n), int8(2n), truth, text('b'))];
    expect(answerOf(both, rows)).toBe(
      '{"data":[{"name":"a"},{"name":"b"}],"meta":{"total_count":12,"filter_count":2}}',
    );
  });
  test('of an empty list stands on a row of its own', () => {
    expect(answerOf({ meta: ['filter_count'] }, [row(int8(0n), lie, null)])).toBe(
      '{"data":[],"meta":{"filter_count":0}}',
    );
    expect(answerOf({ meta: ['total_count'] }, [row(int8(7n), null, null)])).toBe(
      '{"data":[],"meta":{"total_count":7}}',
    );
  });
  test('of no row at all is zero', () => {
    expect(answerOf(both, [])).toBe('{"data":[],"meta":{"total_count":0,"filter_count":0}}');
  });
});

test('chunks of a streamed answer are the same bytes', () => {
  const rows = Array.from({ length: 1_000 }, (_, i) => row(text(`row ${i}`)));
  const result = begin({ streamed: true });
  const chunks: Buffer[] = [result.read()];
  for (const [index, bytes] of rows.entries()) {
    result.row(bytes, 0, bytes.length);
    if (index % 7 === 0) chunks.push(result.read());
  }
  chunks.push(result.end());
  expect(chunks[0]).toHaveLength(0);
  expect(Buffer.concat(chunks).toString()).toBe(answerOf({}, rows));
});

test('an answer that has ended stays the same', () => {
  const result = begin({});
  const bytes = row(text('a'));
  result.row(bytes, 0, bytes.length);
  const ended = result.end();
  expect(result.end()).toBe(ended);
  expect(ended.toString()).toBe('{"data":[{"name":"a"}]}');
});
