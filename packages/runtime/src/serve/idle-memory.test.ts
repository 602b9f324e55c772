import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { collectWhenIdle } from './idle-memory.ts';

/** Collections that the process asked for: those of V8 itself depend on the machine, and may come at any time. */
let forcedCollections = 0;
const observer = new PerformanceObserver((list) => {
  forcedCollections += list.getEntries().filter(isForced).length;
});

function isForced(entry: PerformanceEntry): boolean {
  const detail: unknown = 'detail' in entry ? entry.detail : undefined;
  const flags = typeof detail === 'object' && detail !== null && 'flags' in detail ? Number(detail.flags) : 0;
  return (flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0;
}

beforeEach(() => {
  forcedCollections = 0;
  observer.observe({ entryTypes: ['gc'] });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  observer.disconnect();
  vi.useRealTimers();
});

/** Milliseconds between two looks at the memory. */
const lookMs = 2_000;

/** Takes 128 MB, which V8 cannot collect until the list is emptied. */
const takeMemory = (): Buffer[] => Array.from({ length: 128 }, (_, index) => Buffer.alloc(2 ** 20, index));

/** Lets a look pass, before which this thread was idle for the most part, or busy. Releases memory just before it. */
async function look(isBusy: boolean, released: Buffer[] = []): Promise<void> {
  if (isBusy) for (const end = performance.now() + 40; performance.now() < end; );
  // Long enough that a busy machine does not make an idle thread look busy.
  await sleep(isBusy ? 1 : 300);
  released.length = 0;
  vi.advanceTimersByTime(lookMs);
  // Collected memory and the observer's entries appear in later jobs.
  await sleep(10);
}

test('memory is given back when three looks in a row find the process idle', async () => {
  const stop = collectWhenIdle();
  const taken = takeMemory();
  const before = process.memoryUsage.rss();
  await look(true);
  await look(false);
  await look(false);
  expect(forcedCollections).toBe(0);
  await look(false, taken);
  expect(forcedCollections).toBeGreaterThan(0);
  expect(before - process.memoryUsage.rss()).toBeGreaterThan(64 * 2 ** 20);
  stop();
});

test('a busy process is left alone, and so is an idle one after the end', async () => {
  const stop = collectWhenIdle();
  const taken = takeMemory();
  for (let turn = 0; turn < 2; turn++) {
    await look(false);
    await look(false);
    await look(true);
  }
  stop();
  for (let turn = 0; turn < 4; turn++) await look(false);
  expect(forcedCollections).toBe(0);
  expect(taken).toHaveLength(128);
});

test('a process that has taken little is left alone', async () => {
  const stop = collectWhenIdle();
  const taken = [Buffer.alloc(2 ** 20)];
  for (let turn = 0; turn < 4; turn++) await look(false);
  expect(forcedCollections).toBe(0);
  expect(taken).toHaveLength(1);
  stop();
});
