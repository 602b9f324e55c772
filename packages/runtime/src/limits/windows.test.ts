import { expect, test } from 'vitest';
import { createWindows } from './windows.ts';

test('a window begins with the first attempt and ends after its time, however often it was counted', () => {
  const windows = createWindows(100, 10);
  expect(windows.read('a', 0)).toBeUndefined();
  expect(windows.count('a', 0)).toEqual({ attempts: 1, left: 100 });
  expect(windows.count('a', 60)).toEqual({ attempts: 2, left: 40 });
  expect(windows.count('b', 60)).toEqual({ attempts: 1, left: 100 });
  expect(windows.read('a', 99)).toEqual({ attempts: 2, left: 1 });
  expect(windows.read('a', 100)).toBeUndefined();
  expect(windows.count('a', 100)).toEqual({ attempts: 1, left: 100 });
});

test('what was counted elsewhere is taken over', () => {
  const windows = createWindows(100, 10);
  windows.note('a', { attempts: 7, left: 30 }, 0);
  expect(windows.count('a', 10)).toEqual({ attempts: 8, left: 20 });
  windows.note('a', { attempts: 20, left: 50 }, 10);
  expect(windows.read('a', 50)).toEqual({ attempts: 20, left: 10 });
});

test('no more windows are kept than allowed: those that began first are forgotten, whether or not they are over', () => {
  const windows = createWindows(100, 4);
  const kept = (now: number) =>
    ['a', 'b', 'c', 'd', 'e'].filter((key) => windows.read(key, now) !== undefined).join('');
  for (const [moment, key] of ['a', 'b', 'c', 'd'].entries()) windows.count(key, moment);
  expect(kept(4)).toBe('abcd');
  windows.count('e', 4);
  expect(kept(4)).toBe('cde');
});

test('no window is forgotten before its time while there is room', () => {
  const windows = createWindows(100, 1_000);
  const begun: number[] = [];
  for (let now = 0; now < 2_000; now += 7) {
    const kept = begun.filter((moment) => windows.read(`key ${moment}`, now) !== undefined);
    expect(kept).toEqual(begun.filter((moment) => now < moment + 100));
    windows.count(`key ${now}`, now);
    begun.push(now);
  }
});

test('any number of keys takes no more memory than is allowed', () => {
  const windows = createWindows(100, 1_000);
  const before = process.memoryUsage().heapUsed;
  for (let number = 0; number < 300_000; number++) windows.count(`key ${number}`, number / 1_000);
  expect((process.memoryUsage().heapUsed - before) / 2 ** 20).toBeLessThan(64);
  let kept = 0;
  for (let number = 0; number < 300_000; number++) if (windows.read(`key ${number}`, 300)) kept += 1;
  expect(kept).toBeLessThanOrEqual(1_000);
});
