import { expect, test } from 'vitest';
import { BatchSize, RowLengths } from './batch-size.ts';

test('the first batch of short rows is larger once a run has shown them', () => {
  const lengths = new RowLengths();
  expect(lengths.firstRows('r_1')).toBe(8);
  lengths.note('r_1', 3_000);
  expect(lengths.firstRows('r_1')).toBe(32);
  expect(lengths.firstRows('r_2')).toBe(8);
});

test('the first batch of long rows has at most as many bytes as any', () => {
  const lengths = new RowLengths();
  lengths.note('r_1', 10_000);
  expect(lengths.firstRows('r_1')).toBe(13);
  lengths.note('r_1', 100_000);
  expect(lengths.firstRows('r_1')).toBe(8);
  lengths.note('r_1', 400_000);
  expect(lengths.firstRows('r_1')).toBe(2);
  lengths.note('r_1', 50_000_000);
  expect(lengths.firstRows('r_1')).toBe(1);
});

test('a long row is forgotten by and by', () => {
  const lengths = new RowLengths();
  lengths.note('r_1', 40_000);
  for (const rows of [8, 13, 26, 32]) {
    lengths.note('r_1', 100);
    expect(lengths.firstRows('r_1')).toBe(rows);
  }
});

test('as many statements are remembered as there is room for', () => {
  const lengths = new RowLengths();
  for (let number = 0; number < 1_001; number++) lengths.note(`r_${number}`, 100);
  expect([lengths.firstRows('r_0'), lengths.firstRows('r_1000')]).toEqual([8, 32]);
});

test('few short rows fit into one batch', () => {
  const lengths = new RowLengths();
  expect(lengths.fit('r_1', 20)).toBe(false);
  lengths.note('r_1', 6_000);
  expect([lengths.fit('r_1', 20), lengths.fit('r_1', 25), lengths.fit('r_1', 100)]).toEqual([true, false, false]);
});

test('later batches are sized by the rows so far', () => {
  const size = new BatchSize(32);
  expect(size.requested).toBe(32);
  for (let row = 0; row < 32; row++) size.row(16_384);
  expect(size.next()).toBe(8);
  expect(size.longest).toBe(16_384);
});
