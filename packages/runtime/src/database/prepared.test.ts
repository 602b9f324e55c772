import { expect, test } from 'vitest';
import { PreparedNames } from './prepared.ts';

test('the least recently used statement makes room', () => {
  const names = new PreparedNames(2);
  expect(names.use('a')).toBe(false);
  expect(names.add('a', 10)).toEqual([]);
  expect(names.add('b', 10)).toEqual([]);
  expect(names.use('a')).toBe(true);
  expect(names.add('c', 10)).toEqual(['b']);
  expect(names.use('b')).toBe(false);
  expect(names.size).toBe(2);
});

test('half of them make room for statements of others, the least recently used first', () => {
  const names = new PreparedNames(4);
  for (const name of ['a', 'b', 'c']) names.add(name, 10);
  names.use('a');
  expect(names.evictHalf()).toEqual(['b', 'c']);
  expect(names.evictHalf()).toEqual(['a']);
  expect([names.evictHalf(), names.size]).toEqual([[], 0]);
});

test('a statement is confirmed until it is prepared anew or forgotten', () => {
  const names = new PreparedNames(2);
  names.add('a', 10);
  expect(names.isConfirmed('a')).toBe(false);
  names.confirm('a');
  names.use('a');
  expect(names.isConfirmed('a')).toBe(true);
  names.add('a', 10);
  expect(names.isConfirmed('a')).toBe(false);
  names.confirm('never added');
  expect(names.isConfirmed('never added')).toBe(false);
  names.delete('a');
  expect(names.use('a')).toBe(false);
});

test('long statements make room for each other, so that the plans of a connection stay bounded', () => {
  const names = new PreparedNames(100);
  for (const name of ['a', 'b', 'c', 'd']) expect(names.add(name, 262_144)).toEqual([]);
  expect(names.add('e', 400_000)).toEqual(['a', 'b']);
  names.delete('c');
  expect(names.add('f', 300_000)).toEqual([]);
  expect(names.add('longer than all', 5_000_000)).toEqual(['d', 'e', 'f']);
  expect(names.add('g', 1)).toEqual(['longer than all']);
  expect(names.size).toBe(1);
});
