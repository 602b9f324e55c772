/** Files in a bucket, on a real server of the protocol of S3. Source: API specification, sections 11 and 16. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createS3Storage, readContent } from '../../packages/runtime/src/files/storage.ts';
import { file, form } from '../support/files.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { type S3Server, startS3 } from '../support/s3.ts';

let folder: string;
let s3: S3Server;
let project: ServedProject;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-s3-'));
  s3 = await startS3(folder);
  project = await serveProject({
    system: true,
    sql: 'CREATE TABLE plain (id integer PRIMARY KEY);',
    environment: {
      STORAGE_LOCATIONS: 'cloud,local',
      STORAGE_CLOUD_DRIVER: 's3',
      STORAGE_CLOUD_BUCKET: s3.bucket,
      STORAGE_CLOUD_ENDPOINT: s3.url,
      STORAGE_CLOUD_KEY: s3.key,
      STORAGE_CLOUD_SECRET: s3.secret,
      STORAGE_CLOUD_ROOT: 'own/files',
    },
  });
});
afterAll(async () => {
  await project?.close();
  await s3?.stop();
  await rm(folder, { recursive: true, force: true });
});

const send = (body: FormData, path = '/files', method = 'POST') => project.admin(path, { method, body });

it('a content is put there, read in parts, replaced and removed', async () => {
  const { json } = await send(form(file('0123456789')));
  const { id, storage, filename_disk: first } = json.data;
  expect(storage).toBe('cloud');
  expect(await s3.objects()).toEqual([`own/files/${first}`]);
  expect(await readdir(join(project.folder, '.platform/uploads/.incoming'))).toEqual([]);
  const whole = await project.admin(`/assets/${id}`);
  expect([whole.status, whole.text]).toEqual([200, '0123456789']);
  const part = await project.admin(`/assets/${id}`, { headers: { range: 'bytes=2-4' } });
  expect([part.status, part.text, part.headers.get('content-range')]).toEqual([206, '234', 'bytes 2-4/10']);
  const replaced = await send(form(file('new')), `/files/${id}`, 'PATCH');
  await expect.poll(() => s3.objects()).toEqual([`own/files/${replaced.json.data.filename_disk}`]);
  expect((await project.admin(`/assets/${id}`)).text).toBe('new');
  expect((await project.admin(`/files/${id}`, { method: 'DELETE' })).status).toBe(204);
  await expect.poll(() => s3.objects()).toEqual([]);
});

it('images lie beside their originals and go with them', async () => {
  const picture = await sharp({ create: { width: 80, height: 60, channels: 3, background: '#c00' } })
    .png()
    .toBuffer();
  const { json } = await send(form(file(picture, 'picture.png')));
  const ask = (query: string) => project.admin(`/assets/${json.data.id}${query}`);
  const made = await ask('?width=8');
  expect((await sharp(made.bytes).metadata()).width).toBe(8);
  expect((await ask('?width=8')).bytes).toEqual(made.bytes);
  await ask('?key=system-small-cover&format=webp');
  expect(await s3.objects()).toHaveLength(3);
  await project.admin(`/files/${json.data.id}`, { method: 'DELETE' });
  await expect.poll(() => s3.objects()).toEqual([]);
});

it('a write that is refused leaves nothing there', async () => {
  expect(failure(await send(form(['title', 'x'.repeat(256)], file('x'))))).toBe('400 FAILED_VALIDATION');
  await expect.poll(() => s3.objects()).toEqual([]);
});

it('who may not ask is told so', async () => {
  const wrong = { name: 'cloud', driver: 's3', region: 'us-east-1', endpoint: s3.url, root: '' } as const;
  const storage = createS3Storage({ ...wrong, bucket: s3.bucket, key: s3.key, secret: 'wrong' }, folder);
  await expect(storage.putBytes('x', Buffer.from('x'), 'text/plain')).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
  });
  const gone = createS3Storage(
    { ...wrong, endpoint: 'http://127.0.0.1:9', bucket: 'x', key: 'x', secret: 'x' },
    folder,
  );
  await expect(gone.open('x')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

it('a content that breaks off before its end is not there for images', async () => {
  const breaking = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('half', () => response.destroy());
  });
  await new Promise<void>((resolve) => void breaking.listen(0, '127.0.0.1', resolve));
  const address = breaking.address();
  const endpoint = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const location = { name: 'cloud', driver: 's3', region: 'us-east-1', endpoint, root: '' } as const;
  const storage = createS3Storage({ ...location, bucket: 'x', key: 'x', secret: 'x' }, folder);
  await expect(readContent(storage, 'x')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  breaking.close();
});
