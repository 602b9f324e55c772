import { expect, test } from 'vitest';
import { baseOrder } from './columns.ts';

const order = (bases: Readonly<Record<string, readonly string[]>>, relation: string, built: readonly string[] = []) =>
  baseOrder(
    relation,
    (one) => bases[one] ?? [],
    (one) => built.includes(one),
  );

test('a relation stands after those that it is built from, each once', () => {
  expect(order({ a: ['b', 'c', 'b'], b: ['d'], c: ['d'] }, 'a')).toEqual(['d', 'c', 'b', 'a']);
  expect(order({ a: ['b'], b: ['c'] }, 'a', ['b'])).toEqual(['a']);
});

test('what leads back to itself, and what is built from it, is in no order', () => {
  const circle = { a: ['b', 't'], b: ['a'], c: ['a'], own: ['own'] };
  expect(order(circle, 'c')).toEqual(['t']);
  expect(order(circle, 'own')).toEqual([]);
});

test('a chain may have any length', () => {
  const chain = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`v${at}`, [`v${at + 1}`]]));
  expect(order(chain, 'v0')).toHaveLength(100_001);
});
