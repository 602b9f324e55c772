import {
  constants,
  type EventLoopUtilization,
  type PerformanceEntry,
  PerformanceObserver,
  performance,
} from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { collectWhenIdle } from './memory.ts';

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

/** Lets a look at the memory pass, before which the process was busy for a part of the time: half or a tenth of it, if not said. */
async function look(isBusy: boolean, part = isBusy ? 0.5 : 0.1): Promise<void> {
  utilization = part;
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

/** Megabytes of the young generation, which V8 enlarges while much is allocated. */
function young(): number {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return (space?.space_size ?? 0) / megabyte;
}

function enlargeYoung(): void {
  let kept: object[] = [];
  for (let index = 0; index < 6_000_000; index++) {
    kept.push({ index, text: `text ${index}` });
    if (kept.length <= 60_000) continue;
    kept = [];
    if (young() >= 16) return;
  }
}

test('a process that does next to nothing gives back what is left after that, the young generation with it', async () => {
  const stop = collectWhenIdle();
  resident += 128 * megabyte;
  enlargeYoung();
  for (let turn = 0; turn < 6; turn++) await look(false);
  await vi.waitFor(() => expect(forcedCollections).toBeGreaterThan(0));
  enlargeYoung();
  expect(young()).toBeGreaterThanOrEqual(16);
  // The pretended size is the same as before, as if V8 had kept all of it.
  for (let turn = 0; turn < 6; turn++) await look(false, 0.01);
  expect(young()).toBeLessThan(4);
  stop();
});

test('the first quiet time gives back what the start left behind, and later ones leave it alone', async () => {
  const measure = vi.spyOn(process.memoryUsage, 'rss').mockImplementation(() => resident);
  const stop = collectWhenIdle();
  enlargeYoung();
  for (let turn = 0; turn < 6; turn++) await look(false, 0.01);
  await vi.waitFor(() => expect(young()).toBeLessThan(4));
  for (let turn = 0; turn < 12; turn++) await look(false, 0.01);
  // At the start, at each look, and after the one collection.
  expect(measure).toHaveBeenCalledTimes(1 + 18 + 1);
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
