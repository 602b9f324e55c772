import { expect, test } from 'vitest';
import { printPlot } from './growth-plot.ts';

const svg = printPlot({
  title: 'Rows & time',
  across: 'rows',
  lines: [
    { label: 'time', points: [10, 100, 1000].map((x) => ({ x, y: x / 10 })) },
    { label: 'memory', points: [10, 100, 1000].map((x) => ({ x, y: 1 })) },
  ],
});

/** Points of the lines, by pixels. */
const circles = [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [Number(x), Number(y)]);

test('equal factors are equal distances on both axes', () => {
  const [first = [], second = [], third = []] = circles;
  for (const axis of [0, 1]) {
    expect((third[axis] ?? 0) - (second[axis] ?? 0)).toBeCloseTo((second[axis] ?? 0) - (first[axis] ?? 0), 1);
  }
  expect(third[1]).toBeLessThan(first[1] ?? 0);
});

test('a flat line stays flat', () => {
  expect(new Set(circles.slice(3).map(([, y]) => y)).size).toBe(1);
});

test('texts are escaped, and values and round numbers are named', () => {
  expect(svg).toContain('>Rows &amp; time</text>');
  expect(svg).toContain('<title>Rows &amp; time</title>');
  for (const text of ['10', '100', '1,000', '1 ×', '5 ×', '100 ×']) expect(svg).toContain(`>${text}</text>`);
});
