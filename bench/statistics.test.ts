import { expect, test } from 'vitest';
import { median, percentile, ratio, spread } from './statistics.ts';

test('percentiles are members of the series, by nearest rank', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentile(hundred, 50)).toBe(50);
  expect(percentile(hundred, 99)).toBe(99);
  expect(percentile([7], 99)).toBe(7);
  expect(percentile([], 99)).toBeNaN();
});

test('a median of an even number of values lies between the two in the middle', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(median([])).toBeNaN();
});

test('the spread is a share of the median', () => {
  expect(spread([90, 100, 120])).toBeCloseTo(0.3);
  expect(spread([5])).toBe(0);
});

test('a ratio compares rounds with each other, so a slow round of both does not change it', () => {
  expect(ratio([200, 20, 400], [100, 10, 200])).toBe(2);
  expect(ratio([200, 300], [100, 100])).toBe(2.5);
});
