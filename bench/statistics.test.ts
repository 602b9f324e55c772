import { expect, test } from 'vitest';
import { median, percentile, ratio, sameness, spread } from './statistics.ts';

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

test('series that are one are likely, and series that are two are not', () => {
  const series = Array.from({ length: 40 }, (_, index) => (index * 17) % 41);
  expect(sameness(series, series)).toBeCloseTo(1);
  expect(
    sameness(
      series,
      series.map((number) => number + 100),
    ),
  ).toBeLessThan(1e-9);
  expect(sameness([1, 1, 1], [1, 1, 1])).toBe(1);
  // By the tables of the normal distribution: U = 50 of 400, without ties.
  const [low, high] = [
    Array.from({ length: 20 }, (_, index) => index),
    Array.from({ length: 20 }, (_, index) => index + 10.5),
  ];
  expect(sameness(low, high)).toBeGreaterThan(1e-5);
  expect(sameness(low, high)).toBeLessThan(1e-3);
  expect(sameness(high, low)).toBeCloseTo(sameness(low, high));
});
