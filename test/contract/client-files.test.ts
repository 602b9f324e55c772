/** Files by the client library, its own and a generated one. Source: API specification, section 15. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { type Client, createClient, type UploadProgress } from '@tablewright/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startAnswering } from '../support/answering.ts';
import { file, form } from '../support/files.ts';
import { adminToken } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { typeCheck } from '../support/type-check.ts';

let project: ServedProject;
let client: Client<Record<never, never>>;
const told: UploadProgress[] = [];
beforeAll(async () => {
  project = await serveProject({
    system: true,
    sql: 'CREATE TABLE plain (id integer PRIMARY KEY);',
    permissions: 'permissions: { public: { platform_files: { read: true } } }',
  });
  client = createClient(project.url, {
    auth: { staticToken: adminToken },
    transport: { onUploadProgress: (progress) => void told.push(progress) },
  });
});
afterAll(() => project?.close());

const textOf = async (stream: ReadableStream<Uint8Array>): Promise<string> => (await buffer(stream)).toString();

it('uploads, tells how far it is, and gives contents back', async () => {
  const content = 'x'.repeat(200_000);
  const made = await client.files.createOne(form(['title', 'Mine'], file(content)), {
    fields: ['id', 'title', 'type'],
  });
  expect(made).toEqual({ id: expect.any(String), title: 'Mine', type: 'text/plain' });
  expect(told.length).toBeGreaterThan(0);
  expect(told.at(-1)?.loaded).toBeGreaterThan(content.length);
  const id = made?.id ?? '';
  expect(await textOf(await client.assets.readOne(id))).toBe(content);
  const changed = await client.files.updateOne(id, form(file('other', 'other.txt')), { fields: ['filename_download'] });
  expect(changed).toEqual({ filename_download: 'other.txt' });
  expect(await textOf(await client.assets.readOne(id))).toBe('other');
  expect(await client.files.updateOne(id, { title: 'Yours' }, { fields: ['title'] })).toEqual({ title: 'Yours' });
  const { data } = await client.files.createMany(form(file('1'), file('2')), { fields: ['filesize'] });
  expect(data).toEqual([{ filesize: '1' }, { filesize: '1' }]);
  await client.files.deleteOne(id);
  await expect(client.assets.readOne(id)).rejects.toMatchObject({ code: 'FORBIDDEN' });
});

it('has the server fetch files', async () => {
  const refused = client.files.import({ url: 'http://127.0.0.1/' });
  await expect(refused).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' });
  const server = await startAnswering();
  server.tell({ body: { data: { id: 'x' } } });
  const told = await createClient(server.url).files.import({ url: 'https://example.com/x.txt', data: { title: 'X' } });
  expect(told).toEqual({ id: 'x' });
  expect(server.asked).toMatchObject([
    { method: 'POST', url: '/files/import', body: '{"url":"https://example.com/x.txt","data":{"title":"X"}}' },
  ]);
  await server.close();
});

it('sends a form again as it was when the server is busy', async () => {
  const server = await startAnswering();
  server.tell({ status: 429, headers: { 'retry-after': '0' }, body: { errors: [] } }, { body: { data: { id: 'x' } } });
  const counted = createClient(server.url, { transport: { onUploadProgress: () => undefined } });
  const options = { idempotencyKey: 'one' };
  expect(await counted.files.createOne(form(file('content')), {}, options)).toEqual({ id: 'x' });
  expect(server.asked).toHaveLength(2);
  expect(server.asked[1]?.body).toContain('content');
  await server.close();
});

it('a generated one does what its class may', async () => {
  const load = async (name: string) =>
    import(pathToFileURL(join(project.folder, 'generated/client', name, 'index.js')).href);
  const admin = (await load('admin')).createClient(project.url, { auth: { staticToken: adminToken } });
  const made = await admin.files.createOne(form(file('typed')), { fields: ['id'] });
  expect(await textOf(await admin.assets.readOne(made.id))).toBe('typed');
  expect(Object.keys(admin.files)).toContain('import');
  expect((await admin.fields.readByQuery()).data.length).toBeGreaterThan(0);
  const everybody = (await load('public')).createClient(project.url);
  expect(await textOf(await everybody.assets.readOne(made.id))).toBe('typed');
  expect(everybody.fields).toBeUndefined();
  expect(Object.keys(everybody.files).sort()).toEqual(['aggregate', 'readAll', 'readByQuery', 'readMany', 'readOne']);
});

it('the types of a generated one follow from the fields of an upload', { timeout: 60_000 }, async () => {
  const program = `
    import type { Client } from '../generated/client/admin/index.js';

    export async function upload({ files, relations }: Client, form: FormData): Promise<readonly (string | null)[]> {
      const made = await files.createOne(form, { fields: ['id', 'folder.name'] });
      const { data } = await files.createMany(form, { fields: ['type'] });
      const whole = await files.updateOne(made.id, form);
      const fetched = await files.import({ url: 'https://a.example/b', data: { title: 'B' } }, { fields: ['title'] });
      // @ts-expect-error: a field that was not asked for
      const size = made.filesize;
      // @ts-expect-error: a field that is not there
      await files.createOne(form, { fields: ['titel'] });
      // @ts-expect-error: a file without a content needs its type
      await files.createOne({ filename_download: 'x.txt' });
      await files.createOne({ filename_download: 'x.txt', type: 'text/plain' });
      // @ts-expect-error: a field that is not there
      await files.import({ url: 'https://a.example/b', data: { titel: 'B' } });
      await relations.updateOne('platform_files', 'folder', { meta: { sort_field: null } });
      return [size, made.folder?.name ?? null, data[0]?.type ?? null, whole.filesize, fetched.title];
    }
  `;
  await mkdir(join(project.folder, 'extensions'), { recursive: true });
  await writeFile(join(project.folder, 'extensions', 'uploads.ts'), program);
  expect(await typeCheck(project.folder)).toBe('');
});
