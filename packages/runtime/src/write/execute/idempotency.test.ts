import { expect, test } from 'vitest';
import type { Caller } from '../../caller.ts';
import { keyRequest } from './idempotency.ts';

const ada: Caller = { accessClass: 'editor', user: 'ada', role: 'r' };
const anonymous: Caller = { accessClass: 'public', user: null, role: null };

const named = (caller: Caller, ip: string, query = '') =>
  keyRequest({ key: 'a', caller, sender: { ip }, collection: 'docs', query }, { title: 'x' });

test('a key belongs to its caller, and without a sign-in to the address', () => {
  const callers: readonly (readonly [Caller, string])[] = [
    [ada, '::1'],
    [{ ...ada, user: 'bob' }, '::1'],
    [{ ...ada, role: 's' }, '::1'],
    [{ ...ada, accessClass: 'viewer' }, '::1'],
    [anonymous, '::1'],
    [anonymous, '::2'],
  ];
  expect(new Set(callers.map(([caller, ip]) => named(caller, ip).caller)).size).toBe(callers.length);
});

test('neither another address of a user nor a renewed token makes another request', () => {
  const first = named(ada, '::1', 'fields=id&access_token=old');
  expect(named(ada, '::2', 'fields=id&access_token=new')).toEqual(first);
  expect(named(ada, '::1', 'fields=title&access_token=old').hash).not.toBe(first.hash);
});
