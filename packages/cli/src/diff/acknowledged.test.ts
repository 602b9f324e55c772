import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAcknowledged } from '../commands/diff.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-acknowledged-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const changes = new Set(['field-removed articles.body', 'field-removed articles.a', 'field-removed articles.a #b']);

test.each([
  ['field-removed articles.body', 'field-removed articles.body'],
  ['  - field-removed articles.body   # nobody # reads it\r', 'field-removed articles.body'],
  ['field-removed articles.a #b', 'field-removed articles.a #b'],
  ['field-removed articles.a #b # because', 'field-removed articles.a #b'],
  ['field-removed articles.a # because', 'field-removed articles.a'],
  ['\ufefffield-removed articles.a', 'field-removed articles.a'],
])('%s', async (line, name) => {
  const path = join(folder, 'acknowledged-changes.txt');
  await writeFile(path, `# A heading.\n${line}\n`);
  const found = await readAcknowledged(path, changes);
  expect([...found].filter((one) => changes.has(one))).toEqual([name]);
});

test('a file that is not there names nothing', async () => {
  expect(await readAcknowledged(join(folder, 'none.txt'), changes)).toEqual(new Set());
});
