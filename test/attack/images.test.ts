/** Images that cost far more than they may: they are ended in time, and nothing but other images waits for them. */
import { readdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts, type TestUser } from '../support/accounts.ts';
import { usualPasswords } from '../support/bundled.ts';
import { form } from '../support/files.ts';

/** As long as an image may take here, and longer than starting what makes it. */
const longestMs = 1_500;

let project: AccountsProject;
let user: TestUser;
let large: string;
let plain: string;
beforeAll(async () => {
  project = await serveAccounts({
    sql: '',
    permissions: "permissions: { public: { platform_files: { read: { fields: '*' } } } }",
    environment: {
      ...usualPasswords,
      ASSETS_TRANSFORM_TIMEOUT: String(longestMs),
      ASSETS_TRANSFORM_MAX_CONCURRENT: '4',
      IP_TRUST_PROXY: '127.0.0.1',
      RATE_LIMITER_AUTH_ENABLED: 'false',
      // Tests share their machine with others: a request may wait for long.
      DATABASE_POOL_TIMEOUT: '30s',
    },
    processes: 1,
  });
  user = await project.addUser(null);
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  const pixels = sharp({ create: { width: 5_000, height: 5_000, channels: 3, background: 'red', noise } });
  large = await upload(await pixels.jpeg({ quality: 30 }).toBuffer(), 'large.jpg');
  plain = await upload(Buffer.from('a note'), 'note.txt');
});
afterAll(() => project?.close());

async function upload(content: Buffer, name: string): Promise<string> {
  const body = form(['file', new Blob([new Uint8Array(content)]), name]);
  const { status, json, text } = await project.server.admin('/files', { method: 'POST', body });
  expect(status, text).toBe(200);
  return json.data.id;
}

it('are refused in time, while sign-ins and contents are answered', { timeout: 120_000 }, async () => {
  // AVIF is made by a library that nothing stops: each of these would keep a thread busy for minutes.
  // As many are made at once as there are processors: as many again wait.
  const costly = Array.from({ length: Math.min(8, 2 * availableParallelism()) }, (_, index) =>
    project.server.ask(`/assets/${large}?width=4${900 + index}&format=avif&quality=90&transforms=[["median",9]]`),
  );
  await sleep(longestMs / 2);
  for (let round = 0; round < 5; round++) {
    const [signedIn, content, health] = await Promise.all([
      project.post('/auth/login', { email: user.email, password: user.password }),
      project.server.ask(`/assets/${plain}`),
      project.server.ask('/server/ping'),
    ]);
    expect([signedIn.status, content.status, health.status]).toEqual([200, 200, 200]);
  }
  const answers = await Promise.all(costly);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400));
  expect(new Set(answers.map(({ json }) => json.errors[0].extensions.code))).toEqual(new Set(['INVALID_QUERY']));
  const small = async () => {
    const { status, headers } = await project.server.ask(`/assets/${large}?width=20&height=20`);
    return [status, headers.get('content-type')];
  };
  // A busy machine may take longer than that to start anew what makes images.
  await expect.poll(small).toEqual([200, 'image/jpeg']);
});

it('of a client that asks for as many as may wait leave other clients theirs', { timeout: 60_000 }, async () => {
  const ask = (width: number, client: string) =>
    project.server.ask(`/assets/${large}?width=${width}`, { headers: { 'x-forwarded-for': client } });
  const statuses = new Set<number>();
  let width = 100;
  let isOver = false;
  const flood = Array.from({ length: 50 }, async () => {
    while (!isOver) statuses.add((await ask(width++, '192.0.2.1')).status);
  });
  try {
    await expect.poll(() => statuses, { timeout: 20_000 }).toContain(503);
    // A busy machine may take too long for one, which is told otherwise.
    for (let count = 1; count <= 5; count++) expect((await ask(count, '192.0.2.2')).status).not.toBe(503);
  } finally {
    isOver = true;
    await Promise.all(flood);
  }
});

it('that several clients ask for are made in the first turn of all', { timeout: 60_000 }, async () => {
  const ask = (query: string, client: string) =>
    project.server.ask(`/assets/${large}?${query}`, { headers: { 'x-forwarded-for': client } });
  const costly = `format=avif&quality=90&transforms=[["median",9]]`;
  let answered = 0;
  const before = Array.from({ length: 16 }, async (_, index) => {
    await ask(`width=4${800 + index}&${costly}`, '192.0.2.1');
    answered++;
  });
  await sleep(200);
  const behind = ask('width=77', '192.0.2.1');
  await sleep(200);
  const crowd = Array.from({ length: 60 }, (_, index) => ask('width=78', `192.0.2.${10 + index}`));
  const { status } = await ask('width=77', '192.0.2.2');
  expect(answered).toBeLessThan(12);
  // More clients than images may wait. A busy machine may take too long for one, which is told otherwise.
  const answers = [status, (await behind).status, ...(await Promise.all(crowd)).map((each) => each.status)];
  expect(answers).not.toContain(503);
  await Promise.all(before);
  for (const width of [77, 78])
    await expect.poll(async () => (await ask(`width=${width}`, '192.0.2.1')).status).toBe(200);
});

it('have no facts where their metadata unpack without end, and are kept as they are', { timeout: 60_000 }, async () => {
  const { crc32, deflateSync } = await import('node:zlib');
  const chunk = (kind: string, content: Buffer): Buffer => {
    const bytes = Buffer.alloc(12 + content.length);
    bytes.writeUInt32BE(content.length, 0);
    bytes.write(kind, 4);
    content.copy(bytes, 8);
    bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + content.length)), 8 + content.length);
    return bytes;
  };
  const image = await sharp({ create: { width: 10, height: 10, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const bomb = chunk('zTXt', Buffer.concat([Buffer.from('a\0\0'), deflateSync(Buffer.alloc(50_000_000))]));
  const content = Buffer.concat([image.subarray(0, 33), ...Array(900).fill(bomb), image.subarray(33)]);
  const id = await upload(content, 'bomb.png');
  const { json } = await project.server.admin(`/files/${id}?fields=type,width,metadata`);
  expect(json.data).toEqual({ type: 'image/png', width: null, metadata: null });
  const widthOf = async (file: string): Promise<unknown> =>
    (await project.server.admin(`/files/${file}?fields=width`)).json.data;
  await expect.poll(async () => widthOf(await upload(image, 'small.png'))).toEqual({ width: 10 });
});

it('fill no disk, with any parameters', { timeout: 120_000 }, async () => {
  const image = await sharp({ create: { width: 4, height: 4, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const id = await upload(image, 'small.png');
  const ask = async (index: number): Promise<number> =>
    (await project.server.ask(`/assets/${id}?width=${1 + (index % 9)}&height=${1 + Math.floor(index / 9)}`)).status;
  for (let index = 0; index < 260; index += 20) {
    // Those that a busy machine refuses, as they took too long, leave nothing and are asked again.
    const made = Array.from({ length: 20 }, (_, more) => expect.poll(() => ask(index + more)).toBe(200));
    await Promise.all(made);
  }
  const { json } = await project.server.admin(`/files/${id}?fields=filename_disk`);
  const folder = join(project.folder, '.platform/uploads/renditions', json.data.filename_disk);
  const kept = (await readdir(folder)).length;
  // Those that are made at once may count the same.
  expect(kept).toBeGreaterThanOrEqual(250);
  expect(kept).toBeLessThan(260);
  expect(await ask(259)).toBe(200);
  // Those that are needed again are kept in the end, in place of others.
  const needed = `/assets/${id}?width=90&height=90`;
  const stored = await readdir(folder);
  expect((await project.server.ask(needed)).status).toBe(200);
  expect((await readdir(folder)).filter((name) => !stored.includes(name))).toHaveLength(1);
});

it('take a title that fits from a name whose capitals are longer', async () => {
  const id = await upload(Buffer.from('x'), `${'ß '.repeat(126)}.x`);
  const { json } = await project.server.admin(`/files/${id}?fields=title`);
  expect(json.data.title).toBe('SS '.repeat(126).slice(0, 255));
});
