import { expect, it } from 'vitest';
import { hostileNames } from '../openapi/testing/sample-api.ts';
import { nameDocument } from './names.ts';

function listOf(name: string, among: readonly string[]): string | undefined {
  return nameDocument(among).get(name)?.list;
}

it.each([
  ['albums', 'readItemsAlbums'],
  ['order_lines', 'readItemsOrderLines'],
  ['address_1', 'readItemsAddress_1'],
  ['OrderLine', 'readItemsOrderLine'],
])('names %s in the plain way', (name, expected) => {
  expect(listOf(name, [name, 'others'])).toBe(expected);
});

it('keeps the plain name when a name like it appears', () => {
  const among = ['order_lines', 'OrderLines', 'order lines'];
  expect(listOf('order_lines', among)).toBe('readItemsOrderLines');
  expect(listOf('OrderLines', among)).toMatch(/^readItemsOrderLines__[0-9a-f]{10}$/);
});

it('gives a name that loses characters the same hash with and without names beside it', () => {
  const alone = listOf('a b', ['a b']);
  expect(alone).toMatch(/^readItemsAB__[0-9a-f]{10}$/);
  expect(listOf('a b', ['a b', 'a-b', 'ab', 'a_b'])).toBe(alone);
});

it('is unique and made of safe characters for hostile names', () => {
  const names = [...nameDocument([...hostileNames, 'a_b', 'ab', 'aB', '', '日本', '_', '__']).values()];
  for (const key of ['item', 'filter', 'search', 'list', 'single', 'searchOperation'] as const) {
    const all = names.map((one) => one[key]);
    expect(new Set(all).size).toBe(all.length);
    expect(all.filter((one) => !/^[A-Za-z][A-Za-z0-9_]*$/.test(one))).toEqual([]);
  }
});
