import { expect, test } from 'vitest';
import { allOf, anyOf, sqlFalse, sqlTrue, where } from './fragment.ts';

test('predicates are joined in brackets, constants folded', () => {
  expect(allOf([])).toBe(sqlTrue);
  expect(anyOf([])).toBe(sqlFalse);
  expect(allOf(['a', sqlTrue, 'b', 'a'])).toBe('(a AND b)');
  expect(anyOf(['a', sqlFalse, 'b'])).toBe('(a OR b)');
  expect(allOf(['a', sqlFalse])).toBe(sqlFalse);
  expect(anyOf(['a', sqlTrue])).toBe(sqlTrue);
  expect(allOf(['a'])).toBe('a');
  expect(where(sqlTrue)).toBe('');
});
