import { expect, test } from 'vitest';
import { Backoff } from './connect.ts';
import { PipelineDepth } from './read.ts';

test('waits double up to the most, spread over their upper half', () => {
  const backoff = new Backoff();
  const waits = Array.from({ length: 12 }, () => {
    backoff.fail(0, 1 - Number.EPSILON);
    return Math.round(backoff.wait(0));
  });
  expect(waits).toEqual([250, 500, ...waits.slice(2).fill(1_000)]);
  backoff.fail(1_000, 0);
  expect(backoff.wait(1_000)).toBe(500);
  expect(backoff.wait(2_000)).toBe(0);
  expect(backoff.failing).toBe(true);
  backoff.succeed();
  expect([backoff.failing, backoff.wait(0)]).toEqual([false, 0]);
});

test('one stall ends pipelining, which comes back by doubling', () => {
  const depth = new PipelineDepth(8);
  expect(depth.value).toBe(8);
  depth.stalled(1_000);
  const values = [1_100, 1_250, 1_300, 1_500, 1_750, 2_000].map((now) => {
    depth.recover(now);
    return depth.value;
  });
  expect(values).toEqual([1, 2, 2, 4, 8, 8]);
});
