import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { collectWhenIdle } from './idle-memory.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Milliseconds between two looks at the memory. */
const lookMs = 2_000;

/** Takes 128 MB, which nothing needs from then on. */
function takeMemory(): WeakRef<Buffer>[] {
  return Array.from({ length: 128 }, (_, index) => new WeakRef(Buffer.alloc(2 ** 20, index)));
}

const left = (taken: readonly WeakRef<Buffer>[]): number =>
  taken.filter((buffer) => buffer.deref() !== undefined).length;

/** Lets a look pass, before which this thread was idle for the most part, or busy. */
async function look(isBusy: boolean): Promise<void> {
  if (isBusy) for (const end = performance.now() + 40; performance.now() < end; );
  // Long enough that a busy machine does not make an idle thread look busy.
  await sleep(isBusy ? 1 : 300);
  vi.advanceTimersByTime(lookMs);
  // What was asked for in one job is kept until its end.
  await sleep(1);
}

test('memory is given back when three looks in a row find the process idle', async () => {
  const stop = collectWhenIdle();
  const taken = takeMemory();
  const before = process.memoryUsage.rss();
  await look(true);
  await look(false);
  await look(false);
  expect(left(taken)).toBeGreaterThan(100);
  await look(false);
  expect(left(taken)).toBe(0);
  expect(before - process.memoryUsage.rss()).toBeGreaterThan(64 * 2 ** 20);
  stop();
});

test('a busy process is left alone, and so is an idle one behind the end', async () => {
  const stop = collectWhenIdle();
  const taken = takeMemory();
  for (let turn = 0; turn < 2; turn++) {
    await look(false);
    await look(false);
    await look(true);
  }
  expect(left(taken)).toBeGreaterThan(100);
  stop();
  for (let turn = 0; turn < 4; turn++) await look(false);
  expect(left(taken)).toBeGreaterThan(100);
});

test('a process that has taken little is left alone', async () => {
  const stop = collectWhenIdle();
  const taken = [new WeakRef(Buffer.alloc(2 ** 20))];
  for (let turn = 0; turn < 4; turn++) await look(false);
  expect(left(taken)).toBe(1);
  stop();
});
