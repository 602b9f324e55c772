/** Clients that ask for files and images and read nothing of them: what they cost is bounded, and they are cut. */
import { readFile, symlink } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts } from '../support/accounts.ts';
import { form } from '../support/files.ts';
import { failure } from '../support/project.ts';
import { askWithoutReading, untilCut } from '../support/unread.ts';

let project: AccountsProject;
let original: Buffer;
let photo: string;
const sockets: Socket[] = [];

/** An image without loss of 12 MB. */
const large = '?format=png&width=2000';
const clients = 40;
/** A list of more than 64 kB. */
const notes = [1, 2].map((id) => `(${id}, '${'x'.repeat(60_000)}')`).join(', ');

beforeAll(async () => {
  project = await serveAccounts({
    sql: `CREATE TABLE notes (id integer PRIMARY KEY, body text NOT NULL); INSERT INTO notes VALUES ${notes};`,
    permissions: "permissions: { public: { platform_files: { read: { fields: '*' } }, notes: { read: true } } }",
    environment: {
      ASSETS_TRANSFORM_TIMEOUT: '60s',
      // A connection on which nothing moves is ended after both, and ten seconds: long after it is cut.
      DATABASE_POOL_TIMEOUT: '1s',
      DATABASE_STATEMENT_TIMEOUT: '120s',
      STREAM_STALL_TIMEOUT: '5s',
      STREAM_BUFFER_MAX: '8mb',
    },
    processes: 1,
  });
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  original = await sharp({ create: { width: 2_000, height: 2_000, channels: 3, background: 'red', noise } })
    .png()
    .toBuffer();
  photo = await upload(original);
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => project?.close());

async function upload(content: Buffer): Promise<string> {
  const body = form(['file', new Blob([new Uint8Array(content)]), 'photo.png']);
  const { status, json, text } = await project.server.admin('/files', { method: 'POST', body });
  expect(status, text).toBe(200);
  return json.data.id;
}

async function residentMegabytes(): Promise<number> {
  const status = await readFile(`/proc/${project.server.pid}/status`, 'utf8');
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024);
}

const leaveUnread = async (path: string): Promise<Socket> => {
  const socket = await askWithoutReading(project.server.url, path);
  sockets.push(socket);
  return socket;
};

it.each([
  ['content', ''],
  ['stored image', large],
])(
  'a %s is sent as it is read, takes no room of other answers, and is cut after STREAM_STALL_TIMEOUT',
  { timeout: 120_000 },
  async (_, query) => {
    const path = `/assets/${photo}${query}`;
    const first = await project.server.ask(path);
    expect([first.status, first.bytes.length > 8_000_000]).toEqual([200, true]);
    const before = await residentMegabytes();
    await Promise.all(Array.from({ length: clients }, () => leaveUnread(path)));
    // Each of them would hold the whole of it.
    expect((await residentMegabytes()) - before).toBeLessThan(150);
    const list = await project.server.ask('/items/notes');
    expect([list.status, list.text.length > 120_000]).toEqual([200, true]);
    await untilCut(sockets, { timeout: 60_000 });
    const again = await project.server.ask(path);
    expect(again.bytes.equals(first.bytes)).toBe(true);
    const part = await project.server.ask(path, { headers: { range: 'bytes=1000000-1000099' } });
    expect([part.status, part.bytes]).toEqual([206, first.bytes.subarray(1_000_000, 1_000_100)]);
  },
);

it('an image that is not stored waits for room, and is refused where there is none', { timeout: 60_000 }, async () => {
  const id = await upload(original);
  const { json } = await project.server.admin(`/files/${id}?fields=filename_disk`);
  // The folder of its renditions cannot be made, so none is kept.
  const renditions = join(project.folder, '.platform/uploads/renditions');
  await symlink(join(project.folder, 'nowhere'), join(renditions, json.data.filename_disk));
  const path = `/assets/${id}${large}`;
  await leaveUnread(path);
  expect(failure(await project.server.ask(path))).toBe('503 SERVICE_UNAVAILABLE');
  for (const socket of sockets.splice(0)) socket.destroy();
  await expect.poll(async () => (await project.server.ask(path)).status, { timeout: 20_000 }).toBe(200);
});
