import {
  constants,
  type EventLoopUtilization,
  type PerformanceEntry,
  PerformanceObserver,
  performance,
} from 'node:perf_hooks';
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

/** Bytes that the process is said to hold, and the part of its time that it is said to be busy. */
let resident = 0;
let utilization = 0;
const megabyte = 2 ** 20;

beforeEach(() => {
  forcedCollections = 0;
  resident = 200 * megabyte;
  observer.observe({ entryTypes: ['gc'] });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  // Other work on the machine changes both figures.
  vi.spyOn(process.memoryUsage, 'rss').mockImplementation(() => resident);
  vi.spyOn(performance, 'eventLoopUtilization').mockImplementation(
    (): EventLoopUtilization => ({ idle: 1 - utilization, active: utilization, utilization }),
  );
});
afterEach(() => {
  observer.disconnect();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Lets a look at the memory pass, before which the process was idle for the most part, or busy. */
async function look(isBusy: boolean): Promise<void> {
  utilization = isBusy ? 0.5 : 0.1;
  vi.advanceTimersByTime(2_000);
  // Collected memory and the observer's entries appear in later jobs.
  await sleep(20);
}

test('memory is given back when three looks in a row find the process idle', async () => {
  const stop = collectWhenIdle();
  resident += 128 * megabyte;
  const released = new WeakRef(Buffer.alloc(megabyte));
  await look(true);
  await look(false);
  await look(false);
  expect(forcedCollections).toBe(0);
  await look(false);
  await vi.waitFor(() => expect(forcedCollections).toBeGreaterThan(0));
  expect(released.deref()).toBeUndefined();
  stop();
});

test('a busy process is left alone, and so is an idle one after the end', async () => {
  const stop = collectWhenIdle();
  resident += 128 * megabyte;
  for (let turn = 0; turn < 2; turn++) {
    await look(false);
    await look(false);
    await look(true);
  }
  stop();
  for (let turn = 0; turn < 4; turn++) await look(false);
  expect(forcedCollections).toBe(0);
});

test('a process that has taken little is left alone', async () => {
  const stop = collectWhenIdle();
  resident += 16 * megabyte;
  for (let turn = 0; turn < 4; turn++) await look(false);
  expect(forcedCollections).toBe(0);
  stop();
});
