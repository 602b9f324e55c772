import { expect, test } from 'vitest';
import { matches, quotedNames } from './table-names.ts';

test.each([
  ['articles', 'public', 'articles', true],
  ['articles', 'blog', 'articles', true],
  ['articles', 'public', 'articles_tags', false],
  ['articles*', 'public', 'articles_tags', true],
  ['*_tags', 'public', 'articles_tags', true],
  ['blog.*', 'blog', 'articles', true],
  ['blog.*', 'public', 'articles', false],
  ['*.log', 'blog', 'log', true],
  ['b*g.a*s', 'blog', 'articles', true],
  ['a.b.c', 'a', 'b.c', false],
  ['a."b.c"', 'a', 'b.c', true],
  ['"b.c"', 'a', 'b.c', true],
  ['"say ""hi"""', 'a', 'say "hi"', true],
  ['a+b', 'public', 'aab', false],
  ['a[b]', 'public', 'a[b]', true],
  ['Order Lines', 'public', 'Order Lines', true],
  ['', 'public', 'articles', false],
])('pattern %s and %s.%s: %s', (pattern, nspname, relname, expected) => {
  expect(matches(pattern, { nspname, relname })).toBe(expected);
});

test('names are sorted, said once, and counted beyond fifty', () => {
  expect(quotedNames(['b', 'a', 'b'])).toBe('"a", "b"');
  const many = Array.from({ length: 53 }, (_, index) => `t${String(index).padStart(2, '0')}`);
  expect(quotedNames(many)).toMatch(/"t49" and 3 more$/);
});
