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
  expect(await readAcknowledged(path, changes)).toEqual({ acknowledged: new Set([name]), stale: [] });
});

test('lines that name no change are told by their places', async () => {
  const path = join(folder, 'acknowledged-changes.txt');
  await writeFile(
    path,
    '# A heading.\n\nfield-removed articles.a\r\n- field-removed articles.b # of the release before\n',
  );
  const { acknowledged, stale } = await readAcknowledged(path, changes);
  expect([...acknowledged]).toEqual(['field-removed articles.a']);
  expect(stale.map(({ place, message }) => [place, message])).toEqual([
    [`${path}:4`, 'The comparison has no change "field-removed articles.b".'],
  ]);
});

test('a file that is not there names nothing', async () => {
  expect(await readAcknowledged(join(folder, 'none.txt'), changes)).toEqual({
    acknowledged: new Set(),
    stale: [],
  });
});
