import { expect, test } from 'vitest';
import { accessNames } from '../auth/access-of.ts';
import { compiledApi } from './routes.ts';
import { api } from './testing/fixture.ts';

test('an API of a known format is linked as it is', () => {
  expect(compiledApi(api)).toBe(api);
});

test('an API of another format is refused with what to do', () => {
  const other = { ...api, format: 2 };
  // @ts-expect-error: a compiler of another version may have written any number.
  expect(() => compiledApi(other)).toThrow(/format 2, this runtime links 1\. Generate it again\./);
});

test('an API without a built-in role is refused', () => {
  expect(() => accessNames({ ...api, access: [] })).toThrow('no access class for the role "public"');
});
