import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { readEnvironment } from './environment-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'platform-env-'));
afterEach(() => {
  for (const name of ['env_test_first', 'env_test_second']) delete process.env[name];
  rmSync(join(folder, '.env'));
});

/** A first variable that was missed would leave DATABASE_URL unset, and so another database would be used. */
test.each([
  ['UTF-8', '', 'utf8'],
  ['UTF-8 with a mark', '\ufeff', 'utf8'],
  ['UTF-16 as shells of Windows write it', '\ufeff', 'utf16le'],
] as const)('reads variables in %s, with any line breaks', (_, mark, encoding) => {
  writeFileSync(join(folder, '.env'), `${mark}env_test_first=größe\r\nenv_test_second="b c"\n`, encoding);
  readEnvironment(folder);
  const { env_test_first: first, env_test_second: second } = process.env;
  expect([first, second]).toEqual(['größe', 'b c']);
});

test('an empty variable hides its line, and is named; one with a text hides it in silence', () => {
  writeFileSync(join(folder, '.env'), 'env_test_first=a\nenv_test_second=b\n');
  Object.assign(process.env, { env_test_first: '', env_test_second: 'c' });
  expect(readEnvironment(folder)).toEqual(['env_test_first']);
  const { env_test_first: first, env_test_second: second } = process.env;
  expect([first, second]).toEqual(['', 'c']);
});

test('refuses other encodings, in which letters would be lost', () => {
  writeFileSync(join(folder, '.env'), 'env_test_first=größe\n', 'latin1');
  expect(() => readEnvironment(folder)).toThrow(/\.env" is no text in UTF-8\.$/);
});
