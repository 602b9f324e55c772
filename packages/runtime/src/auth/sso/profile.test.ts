import { describe, expect, test } from 'vitest';
import { readProfile } from './registration.ts';

const keys = { identifier: 'id', email: 'email', firstName: 'first', lastName: 'last' };

/** What becomes of an identifier; null for none. */
function identifier(id: unknown): string | null {
  try {
    return readProfile({ id }, keys).identifier;
  } catch (error) {
    expect(error).toMatchObject({ code: 'INVALID_CREDENTIALS' });
    return null;
  }
}

describe('an identifier', () => {
  test.each([
    ['a', 'a'],
    [' A ', ' A '],
    [0, '0'],
    [583231, '583231'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    ['😀'.repeat(255), '😀'.repeat(255)],
  ])('%j is %j', (given, expected) => expect(identifier(given)).toBe(expected));

  // Of two whole numbers that are one double, neither says who somebody is.
  test.each([
    2 ** 53,
    1.5,
    Number.POSITIVE_INFINITY,
    '',
    'a\0b',
    '\ud800',
    'x'.repeat(256),
    null,
    undefined,
    true,
    ['a'],
    { a: 1 },
  ])('%j is none', (given) => expect(identifier(given)).toBeNull());

  test('is a member of the profile itself', () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      expect(() => readProfile({ id: 'a' }, { ...keys, identifier: name })).toThrow();
    }
  });
});

test('what has the wrong type is not there', () => {
  const { email, firstName, lastName } = readProfile({ id: 'a', email: ['a@b'], first: 1, last: '' }, keys);
  expect([email, firstName, lastName]).toEqual([null, null, null]);
});

test('data is what is plain, and not too much of it', () => {
  const claims = { id: 'a', n: 1.5, b: false, list: ['x', 1], none: null, bad: 'a\0', deep: { a: 1 }, mixed: [[1]] };
  expect(JSON.parse(readProfile(claims, keys).data)).toEqual({ id: 'a', n: 1.5, b: false, list: ['x', 1] });
  const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`claim${index}`, 'x'.repeat(50)]));
  const { data } = readProfile({ ...many, big: 'x'.repeat(20_000), id: 'a' }, keys);
  expect(data.length).toBeLessThanOrEqual(16_384);
  expect(JSON.parse(readProfile({ big: 'x'.repeat(20_000), id: 'a' }, keys).data)).toEqual({ id: 'a' });
  expect(JSON.parse(data)).toMatchObject({ claim0: 'x'.repeat(50) });
});
