import { expect, test } from 'vitest';
import { resolveApi } from '../passes/resolve-api.ts';
import { blogSchema } from '../testing/blog.ts';
import { checkClientNames } from './client-names.ts';

const api = resolveApi(blogSchema());
const complaints = (name: string): readonly string[] =>
  checkClientNames(api, { name, place: 'package.json: name' }).map(({ message }) => message);

test.each(['shop-client-{class}', '@shop/api-{class}', '@a.b/{class}', '0{class}', '{class}.x_y'])(
  'npm takes %s',
  (name) => {
    expect(complaints(name)).toEqual([]);
  },
);

test.each([
  ['Shop-{class}', 'it may hold'],
  ['shop {class}', 'it may hold'],
  ['.{class}', 'it may hold'],
  ['_{class}', 'it may hold'],
  ['shop-{klass}-{class}', 'it may hold'],
  ['Ümlaut-{class}', 'it may hold'],
  ['@/{class}', 'a scope is written'],
  ['shop/{class}', 'a scope is written'],
  ['@a/b/{class}', 'a scope is written'],
  ['@A/{class}', 'it may hold'],
  [`${'x'.repeat(214)}-{class}`, 'it is longer than 214'],
])('npm refuses %s', (name, reason) => {
  expect(complaints(name)).toHaveLength(api.access.length);
  expect(complaints(name)[0]).toContain(reason);
});

test('two clients never have one name', () => {
  expect(complaints('@shop/api')).toEqual([
    expect.stringMatching(/^The clients of "admin", "public".* would all be named "@shop\/api"\.$/),
  ]);
});
