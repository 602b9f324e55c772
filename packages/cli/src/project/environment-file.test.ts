import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { readEnvironment } from './environment-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'platform-env-'));
afterEach(() => {
  for (const name of ['ENV_TEST_FIRST', 'ENV_TEST_SECOND']) delete process.env[name];
  rmSync(join(folder, '.env'));
});

/** A first variable that was missed would leave DATABASE_URL unset, and so another database would be used. */
test.each([
  ['UTF-8', '', 'utf8'],
  ['UTF-8 with a mark', '\ufeff', 'utf8'],
  ['UTF-16 as shells of Windows write it', '\ufeff', 'utf16le'],
] as const)('reads variables in %s, with any line breaks', (_, mark, encoding) => {
  writeFileSync(join(folder, '.env'), `${mark}ENV_TEST_FIRST=größe\r\nENV_TEST_SECOND="b c"\n`, encoding);
  readEnvironment(folder);
  const { ENV_TEST_FIRST: first, ENV_TEST_SECOND: second } = process.env;
  expect([first, second]).toEqual(['größe', 'b c']);
});
