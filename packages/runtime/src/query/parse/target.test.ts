import { expect, test } from 'vitest';
import { liesUnder, readItemPath, splitTarget } from './target.ts';

test('a target is split at its first question mark', () => {
  expect(splitTarget('/a?b?c')).toEqual({ path: '/a', query: 'b?c' });
  expect(splitTarget('/a')).toEqual({ path: '/a', query: '' });
});

test('collections are decoded, keys stay as sent', () => {
  expect(readItemPath('/items/a%20b')).toEqual({ collection: 'a b', key: null });
  expect(readItemPath('/items/a%2Fb/c%2Cd,e')).toEqual({ collection: 'a/b', key: 'c%2Cd,e' });
});

test('names of the platform mean no collection', () => {
  expect(readItemPath('/items/platform_users')).toEqual({ collection: '', key: null });
  expect(readItemPath('/items/%70latform_users/1')).toEqual({ collection: '', key: '1' });
  expect(readItemPath('/items/platforms')?.collection).toBe('platforms');
});

test.each([
  '/items',
  '/items/',
  '/items//',
  '/items//1',
  '/items/a/',
  '/items/a/1/2',
  '/items/a/1/',
  '/items/a#b',
  '/items/a/1#b',
  '/items/%zz',
  '/items/a/%c3',
  '/Items/a',
  'http://host/items/a',
])('%s is no item path', (path) => {
  expect(readItemPath(path)).toBeNull();
});

test('a path lies under a route only at a segment', () => {
  expect(['/auth', '/auth/login', '/auth/'].every((path) => liesUnder(path, '/auth'))).toBe(true);
  expect(['/authors', '/aut', '/x/auth', '/Auth'].some((path) => liesUnder(path, '/auth'))).toBe(false);
});
