import { expect, test } from 'vitest';
import { accessNames } from '../language/descriptors/access-names.ts';
import { compiledApi } from './endpoints.ts';
import { api } from './testing/fixture.ts';

test('an API is linked as it is', () => {
  expect(compiledApi(api)).toBe(api);
});

test('an API without a built-in role is refused', () => {
  expect(() => accessNames({ ...api, access: [] })).toThrow('no access class for the role "public"');
});
