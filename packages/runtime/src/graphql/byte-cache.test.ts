import { expect, test } from 'vitest';
import { createByteCache } from './byte-cache.ts';

test('keeps what is asked for, and never more than two generations weigh', () => {
  const cache = createByteCache<number>({ entries: 100, bytes: 10 });
  cache.set('kept', 0, 2);
  for (let i = 1; i <= 50; i++) {
    cache.set(`passing ${i}`, i, 3);
    expect(cache.get('kept')).toBe(0);
  }
  const left = Array.from({ length: 50 }, (_, i) => cache.get(`passing ${i + 1}`)).filter((one) => one !== undefined);
  expect(left.length).toBeLessThanOrEqual(6);
  expect(left).toContain(50);
});

test('is bounded in entries, and keeps nothing that is too heavy', () => {
  const cache = createByteCache<number>({ entries: 2, bytes: 10 });
  for (let i = 0; i < 10; i++) cache.set(String(i), i, 1);
  expect(cache.get('0')).toBeUndefined();
  expect(cache.get('9')).toBe(9);
  cache.set('heavy', 1, 11);
  expect(cache.get('heavy')).toBeUndefined();
});
