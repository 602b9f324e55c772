import { expect, test } from 'vitest';
import { tableId } from './table-names.ts';

test.each([
  ['public', 'articles', 'public.articles'],
  ['public', 'Order Lines', 'public.Order Lines'],
  ['a.b', 'c', '"a.b".c'],
  ['a', 'b.c', 'a."b.c"'],
  ['a', 'say "hi"', 'a."say ""hi"""'],
  ['a', '"', 'a.""""'],
  ['__proto__', 'constructor', '__proto__.constructor'],
])('%s and %s', (schema, name, id) => {
  expect(tableId(schema, name)).toBe(id);
});
