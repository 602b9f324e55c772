/** A server that answers the documents of its project alone. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { adminToken, createProject, type Platform, startPlatform } from '../support/platform.ts';
import { failure } from '../support/project.ts';

let database: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
let platform: Platform;
beforeAll(async () => {
  database = await createDatabase(
    `CREATE TABLE notes (id integer PRIMARY KEY, body text); INSERT INTO notes VALUES (1, 'one')`,
  );
  project = await createProject();
  const folder = join(project.folder, 'documents', 'admin');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'notes.graphql'), 'query Notes($limit: Int) { notes(limit: $limit) { id body } }');
  platform = await startPlatform(project.folder, database.url, {}, ['--generate', '--trusted-documents']);
});
afterAll(async () => {
  await platform?.stop();
  await Promise.all([database?.drop(), project?.remove()]);
});

const post = (body: unknown) => platform.ask('/graphql', { method: 'POST', body, token: adminToken });

it('answers them by text and by hash, and refuses all others', async () => {
  const file = join(project.folder, 'generated', 'graphql', 'documents.json');
  const documents: Readonly<Record<string, string>> = JSON.parse(await readFile(file, 'utf8'));
  const [[documentId = '', query = ''] = []] = Object.entries(documents);
  const variables = { limit: 1 };
  const expected = { data: { notes: [{ id: 1, body: 'one' }] } };
  expect((await post({ documentId, variables })).json).toEqual(expected);
  expect((await post({ documentId: `sha256:${documentId}`, variables })).json).toEqual(expected);
  expect((await post({ query, variables })).json).toEqual(expected);
  const extensions = { persistedQuery: { version: 1, sha256Hash: documentId } };
  expect((await post({ extensions, variables })).json).toEqual(expected);
  expect((await platform.admin(`/graphql?documentId=${documentId}&variables=%7B%22limit%22%3A1%7D`)).json).toEqual(
    expected,
  );
  for (const other of [{ query: '{ notes { id } }' }, { query: '{ __typename }' }, { documentId: 'abc' }]) {
    expect(failure(await post(other))).toBe('400 INVALID_QUERY');
  }
  expect(failure(await post({ variables }))).toBe('400 INVALID_PAYLOAD');
});
