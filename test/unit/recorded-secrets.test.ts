import { expect, it } from 'vitest';
import { withoutSecrets, withoutToken, writtenOnly } from '../../packages/cli/src/examples/record.ts';
import { emitOpenApi } from '../../packages/compiler/src/openapi/index.ts';
import { hostile, magazine, sampleApi } from '../../packages/compiler/src/openapi/testing/sample-api.ts';

it('hides what opens something, and the secret fields of collections, at every depth', () => {
  const names = writtenOnly(emitOpenApi(sampleApi([...magazine, ...hostile]), null));
  expect([...names]).toContain('preview_token');
  const sent = {
    title: 'A',
    preview_token: 'x',
    below: [{ preview_token: 'y', password: 'z' }],
    hashed: '$argon2id$v',
  };
  expect(withoutSecrets(sent, names)).toEqual({
    title: 'A',
    preview_token: '**********',
    below: [{ preview_token: '**********', password: '**********' }],
    hashed: '**********',
  });
});

it('takes tokens out of addresses', () => {
  expect(withoutToken('/items/a?access_token=x&limit=1')).toBe('/items/a?limit=1');
  expect(withoutToken('/items/a?access_token=x')).toBe('/items/a');
  expect(withoutToken('/items/a?access%5Ftoken=x&%74oken=y&filter[token]=z')).toBe('/items/a?filter[token]=z');
});
