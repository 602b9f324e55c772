/** Files in a bucket, on a real server of the protocol of S3. Source: API specification, sections 11 and 16. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createS3Storage, readContent } from '../../packages/runtime/src/files/storage.ts';
import { file, form } from '../support/files.ts';
import { adminToken } from '../support/platform.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { type S3Server, startS3 } from '../support/s3.ts';

let folder: string;
let s3: S3Server;
let project: ServedProject;
/** Sends half of what it says that it sends. */
let breaking: Server;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-s3-'));
  s3 = await startS3(folder);
  breaking = await listen((_request, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('half', () => response.destroy());
  });
  project = await serveProject({
    system: true,
    sql: 'CREATE TABLE plain (id integer PRIMARY KEY);',
    environment: {
      STORAGE_LOCATIONS: 'cloud,local,nowhere,stranger,broken',
      STORAGE_CLOUD_DRIVER: 's3',
      STORAGE_CLOUD_BUCKET: s3.bucket,
      STORAGE_CLOUD_ENDPOINT: s3.url,
      STORAGE_CLOUD_KEY: s3.key,
      STORAGE_CLOUD_SECRET: s3.secret,
      STORAGE_CLOUD_ROOT: 'own/files',
      ...bucketAt('NOWHERE', s3.url, { BUCKET: 'no-such-bucket' }),
      ...bucketAt('STRANGER', s3.url, { SECRET: 'wrong' }),
      ...bucketAt('BROKEN', addressOf(breaking)),
      LOG_LEVEL: 'warn',
    },
  });
});
afterAll(async () => {
  breaking?.close();
  await project?.close();
  await s3?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function listen(listener: RequestListener): Promise<Server> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return server;
}

function addressOf(server: Server): string {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

function bucketAt(name: string, endpoint: string, more: Readonly<Record<string, string>> = {}) {
  const variables = { DRIVER: 's3', ENDPOINT: endpoint, BUCKET: s3.bucket, KEY: s3.key, SECRET: s3.secret, ...more };
  return Object.fromEntries(Object.entries(variables).map(([end, value]) => [`STORAGE_${name}_${end}`, value]));
}

function elsewhere(endpoint: string): Parameters<typeof createS3Storage>[0] {
  return { name: 'cloud', driver: 's3', region: 'us-east-1', root: '', endpoint, bucket: 'x', key: 'x', secret: 'x' };
}

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
  const gone = createS3Storage(elsewhere('http://127.0.0.1:9'), folder);
  await expect(gone.open('x')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

it.each([
  ['nowhere', 'NoSuchBucket'],
  ['stranger', 'SignatureDoesNotMatch'],
  ['unnamed', 'STORAGE_LOCATIONS lacks \\"unnamed\\"'],
])('a content in a bucket that cannot be asked is not called missing: %s', async (storage, reason) => {
  const { json } = await send(form(file('0123456789')));
  await project.rows(`UPDATE platform.platform_files SET storage = '${storage}' WHERE id = '${json.data.id}'`);
  for (const headers of [{}, { range: 'bytes=2-4' }]) {
    expect(failure(await project.admin(`/assets/${json.data.id}`, { headers }))).toBe('503 SERVICE_UNAVAILABLE');
  }
  expect(project.log()).toContain(reason);
  await project.rows(`UPDATE platform.platform_files SET storage = 'cloud' WHERE id = '${json.data.id}'`);
  expect((await project.admin(`/assets/${json.data.id}`)).text).toBe('0123456789');
});

it('a content that is lost is told in the log', async () => {
  const { json } = await send(form(file('0123456789')));
  const { id, filename_disk: name } = json.data;
  for (const path of await s3.objects()) {
    if (path.endsWith(name)) await rm(join(folder, s3.bucket, `${path}._S3rver_object`));
  }
  expect(failure(await project.admin(`/assets/${id}/note.txt`))).toBe('403 FORBIDDEN');
  const told = project
    .log()
    .split('\n')
    .filter((line) => line.includes(id));
  expect(told.join()).toContain('The content of a file is missing in its storage.');
});

it('a content that breaks off is told in the log, and a client that leaves is not', async () => {
  const { json } = await send(form(file('0123456789')));
  const { id } = json.data;
  await project.rows(`UPDATE platform.platform_files SET storage = 'broken' WHERE id = '${id}'`);
  await expect(project.admin(`/assets/${id}`)).rejects.toThrow();
  await expect.poll(() => project.log()).toMatch(new RegExp(`${id}.*has broken off`));
  const large = await send(form(file('x'.repeat(20_000_000))));
  const left = large.json.data.id;
  const stop = new AbortController();
  const headers = { authorization: `Bearer ${adminToken}` };
  const answer = await fetch(`${project.url}/assets/${left}`, { headers, signal: stop.signal });
  await answer.body?.getReader().read();
  stop.abort();
  expect((await project.admin(`/assets/${left}`)).bytes).toHaveLength(20_000_000);
  expect(project.log()).not.toContain(left);
});

it('a content that breaks off before its end is not there for images', async () => {
  const storage = createS3Storage(elsewhere(addressOf(breaking)), folder);
  await expect(readContent(storage, 'x')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

describe('a server that', () => {
  const servers: Server[] = [];
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => {
    vi.useRealTimers();
    for (const server of servers) server.closeAllConnections();
    for (const server of servers.splice(0)) server.close();
  });

  async function storageOf(listener: RequestListener) {
    const server = await listen(listener);
    servers.push(server);
    return createS3Storage(elsewhere(addressOf(server)), folder);
  }

  /** Error with which a promise is rejected as time goes by. */
  async function late(promise: Promise<unknown>): Promise<unknown> {
    let reason: unknown;
    promise.catch((error: unknown) => {
      reason = error;
    });
    // The way to the server takes time of its own before a limit is set.
    const end = performance.now() + 20_000;
    while (reason === undefined && performance.now() < end) {
      await vi.advanceTimersByTimeAsync(30_000);
      await new Promise(setImmediate);
    }
    return reason;
  }

  it('does not answer is given up', async () => {
    const storage = await storageOf(() => undefined);
    const cause = { message: 'S3 has not answered within 30000 ms.' };
    expect(await late(storage.open('x'))).toMatchObject({ code: 'SERVICE_UNAVAILABLE', cause });
  });

  it('stops in the middle of a content is given up', async () => {
    const storage = await storageOf(
      (_request, response) => void response.writeHead(200, { 'content-length': 10 }).write('half'),
    );
    const content = await storage.open('x');
    expect(String(await late(content?.toArray() ?? Promise.resolve()))).toContain('nothing more for 30000 ms');
  });
});
