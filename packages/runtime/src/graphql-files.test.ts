import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { graphqlDocuments, graphqlFiles } from './class-files.ts';
import { classHeader } from './language/index.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'graphql-files-'));
  const file = `${classHeader(['admin', 'author_editor'], '#')}\n\ntype Query { a: Int } # author_editor\n\nscalar B\n`;
  await writeFile(join(folder, 'classes.graphql'), file);
});
afterAll(() => rm(folder, { recursive: true }));

it('reads the schema of a class', async () => {
  expect(await graphqlFiles(pathToFileURL(folder + sep))('author_editor')).toBe('type Query { a: Int }\n');
});

it.each(['../author_editor', 'a/b', '', 'a.b', 'author'])('takes "%s" for no name', async (name) => {
  await expect(graphqlFiles(pathToFileURL(folder + sep))(name)).rejects.toThrow('is not the name of an access class');
});

it('reads the documents that were compiled', async () => {
  await writeFile(join(folder, 'documents.json'), '{"ab":"{ a }"}');
  expect(await graphqlDocuments(pathToFileURL(join(folder, 'documents.json')))()).toEqual({ ab: '{ a }' });
});
