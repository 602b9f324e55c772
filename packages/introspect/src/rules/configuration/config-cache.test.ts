import { expect, test } from 'vitest';
import type { TableSketch } from '../../testing/facts.ts';
import { collection, complaints, resolve } from '../../testing/resolve.ts';

const things: TableSketch = { columns: ['id!=:integer', 'name'], key: ['id'] };

function configured(time: string) {
  return resolve({ things }, { config: { collections: { things: { cache: { public: time } } } } });
}

test.each([
  ['1s', 1],
  ['60s', 60],
  ['90', 90],
  ['5m', 300],
  ['300s', 300],
])('%s is a time', (text, seconds) => {
  const { schema, diagnostics } = configured(text);
  expect(collection(schema, 'things').cache).toEqual({ public: seconds });
  expect(complaints(diagnostics).filter((line) => line.startsWith('error'))).toEqual([]);
});

test('what caches keep is told, and may be old', () => {
  const found = configured('60s').diagnostics.find(({ code }) => code === 'cache-public');
  expect(found).toMatchObject({ severity: 'info', place: 'table public.things' });
  expect(found?.message).toContain('60 s old, also after a right was withdrawn');
});

test.each(['0s', '301s', '6m', '1h', '-1s', 'soon', '60 s', '1.5m'])('%s is none', (text) => {
  const { schema, diagnostics } = configured(text);
  expect(collection(schema, 'things').cache).toBeUndefined();
  expect(complaints(diagnostics)).toContain('error cache platform.config.ts: collections.things.cache.public');
});
