import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openapiFiles } from './class-files.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'platform-openapi-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('reads a document once', async () => {
  writeFileSync(join(folder, 'editor.json'), '{"openapi":"3.1.0"}');
  const openapi = openapiFiles(pathToFileURL(folder + sep));
  expect(await openapi('editor')).toEqual({ openapi: '3.1.0' });
  rmSync(join(folder, 'editor.json'));
  expect(await openapi('editor')).toEqual({ openapi: '3.1.0' });
});

test('looks again for a document that was not there', async () => {
  const openapi = openapiFiles(pathToFileURL(folder + sep));
  await expect(openapi('full')).rejects.toThrow('ENOENT');
  writeFileSync(join(folder, 'full.json'), '{}');
  expect(await openapi('full')).toEqual({});
});

test.each(['../secret', 'a/b', '', '.', 'a.json'])('never leaves its folder: %j', async (name) => {
  await expect(openapiFiles(pathToFileURL(folder + sep))(name)).rejects.toThrow('is not the name of an access class');
});
