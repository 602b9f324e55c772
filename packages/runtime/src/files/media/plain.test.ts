import { expect, test } from 'vitest';
import { plain } from './plain.ts';

test.each<[unknown, unknown]>([
  ['Acme\0\0', 'Acme'],
  ['\0', undefined],
  ['a\ud800', 'a\ufffd'],
  ['x'.repeat(2_000), 'x'.repeat(1_000)],
  [Number.NaN, undefined],
  [1 / 3, 1 / 3],
  [new Date('2026-01-02T03:04:05Z'), '2026-01-02T03:04:05.000'],
  [new Date('nonsense'), undefined],
  [Buffer.from('bytes'), undefined],
  [
    [1, null, Number.POSITIVE_INFINITY, 'a'],
    [1, 'a'],
  ],
  [[], undefined],
  [{ a: { b: undefined }, c: { d: true, e: new Uint8Array(2) } }, { c: { d: true } }],
])('%j is %j', (value, expected) => expect(plain(value)).toEqual(expected));

test('lists are cut', () => expect(plain(Array.from({ length: 1_000 }, (_, index) => index))).toHaveLength(64));
