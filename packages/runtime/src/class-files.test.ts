import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openapiFiles } from './class-files.ts';
import { classHeader } from './language/index.ts';

const file = `${classHeader(['admin', 'editor'], '//')}\n{ // editor\n  "openapi": "3.1.0", // editor\n  "info": {}\n} // editor\n`;
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'platform-openapi-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('reads a document once', async () => {
  writeFileSync(join(folder, 'classes.jsonc'), file);
  const openapi = openapiFiles(pathToFileURL(folder + sep));
  expect(await openapi('editor')).toEqual({ openapi: '3.1.0' });
  rmSync(join(folder, 'classes.jsonc'));
  expect(await openapi('editor')).toEqual({ openapi: '3.1.0' });
});

test('looks again for a document that was not there', async () => {
  const openapi = openapiFiles(pathToFileURL(folder + sep));
  await expect(openapi('editor')).rejects.toThrow('ENOENT');
  writeFileSync(join(folder, 'classes.jsonc'), file);
  expect(await openapi('editor')).toEqual({ openapi: '3.1.0' });
});

test.each(['../secret', 'a/b', '', '.', 'a.json'])('knows the classes of the file only: %j', async (name) => {
  writeFileSync(join(folder, 'classes.jsonc'), file);
  await expect(openapiFiles(pathToFileURL(folder + sep))(name)).rejects.toThrow('is not the name of an access class');
});
