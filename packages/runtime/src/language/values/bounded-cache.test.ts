import { expect, test } from 'vitest';
import { createBoundedCache } from './bounded-cache.ts';

test('keeps what is asked for and stays bounded', () => {
  const cache = createBoundedCache<number>(3);
  cache.set('kept', 0);
  for (let value = 1; value <= 100; value++) {
    cache.set(`key ${value}`, value);
    expect(cache.get('kept')).toBe(0);
  }
  expect(cache.get('key 1')).toBeUndefined();
  const left = Array.from({ length: 100 }, (_, index) => cache.get(`key ${index + 1}`)).filter(
    (value) => value !== undefined,
  );
  expect(left.length).toBeLessThanOrEqual(6);
});
