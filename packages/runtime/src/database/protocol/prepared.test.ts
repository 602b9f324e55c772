import { expect, test } from 'vitest';
import { PreparedNames } from './prepared.ts';

test('the least recently used statement makes room', () => {
  const names = new PreparedNames(2);
  expect(names.use('a')).toBe(false);
  expect(names.add('a')).toBeUndefined();
  expect(names.add('b')).toBeUndefined();
  expect(names.use('a')).toBe(true);
  expect(names.add('c')).toBe('b');
  expect(names.use('b')).toBe(false);
  expect(names.size).toBe(2);
});

test('a statement is confirmed until it is prepared anew or forgotten', () => {
  const names = new PreparedNames(2);
  names.add('a');
  expect(names.isConfirmed('a')).toBe(false);
  names.confirm('a');
  names.use('a');
  expect(names.isConfirmed('a')).toBe(true);
  names.add('a');
  expect(names.isConfirmed('a')).toBe(false);
  names.confirm('never added');
  expect(names.isConfirmed('never added')).toBe(false);
  names.delete('a');
  expect(names.use('a')).toBe(false);
});
