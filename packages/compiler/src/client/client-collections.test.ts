import { expect, test } from 'vitest';
import { nameDocument } from '../role-view/names.ts';
import { type ClientNames, nameClient } from './client-collections.ts';

test('types of a client are named in the order of the server', () => {
  const { item, key, create, facts } = namesOf('order_lines');
  expect([item, key, create, facts]).toEqual([
    'OrderLinesItem',
    'OrderLinesKey',
    'OrderLinesCreate',
    'OrderLinesFacts',
  ]);
});

test.each([
  ['number', 'NumberFilter_', 'NumberKey'],
  ['own', 'OwnFilter', 'OwnKey_'],
])('a collection called %s has no type with the name of a library type', (collection, filter, key) => {
  expect(namesOf(collection)).toMatchObject({ filter, key });
});

function namesOf(collection: string): ClientNames {
  const collections = [...nameDocument([collection])].map(([name, names]) => ({ name, names }));
  const names = nameClient({ collections }).get(collection);
  if (names === undefined) throw new Error(`${collection} has no names.`);
  return names;
}
