/**
 * Uploads that break off and servers that are killed while files come and go: in the end every row has its content and
 * every content its row. Source: reliability notes, R18.
 *
 * `CUTS=200 KILLS=20` runs as many as a proof needs; without them a sample is run.
 */
import { readdir, utimes } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { file, form } from '../support/files.ts';
import { startCompiled } from '../support/host.ts';
import { adminToken, createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { installSystem } from '../support/system.ts';

const cuts = Number(process.env.CUTS ?? 12);
const kills = Number(process.env.KILLS ?? 2);

let database: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
let server: Platform;
beforeAll(async () => {
  database = await createDatabase();
  await installSystem(database.url);
  project = await createProject();
  server = await startCompiled(project.folder, database.url);
});
afterAll(async () => {
  await server?.stop();
  await Promise.all([database?.drop(), project?.remove()]);
});

async function rows(sql: string): Promise<readonly Record<string, unknown>[]> {
  return withClient(database.url, async (client) => (await client.query(sql)).rows);
}

async function filesIn(...names: readonly string[]): Promise<readonly string[]> {
  const folder = join(project.folder, '.platform', 'uploads', ...names);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** Rows and contents, side by side. */
async function expectTheSame(): Promise<void> {
  await expect
    .poll(async () => {
      const named = await rows(
        'SELECT filename_disk AS name FROM platform.platform_files WHERE filename_disk IS NOT NULL',
      );
      const here = new Set(await filesIn());
      const names = named.map(({ name }) => String(name));
      return {
        withoutContent: names.filter((name) => !here.has(name)).length,
        withoutRow: [...here].filter((name) => !names.includes(name)).length,
        incoming: (await filesIn('.incoming')).length,
      };
    })
    .toEqual({ withoutContent: 0, withoutRow: 0, incoming: 0 });
}

/** Sends a share of an upload and hangs up. */
function cut(share: number, path: string, method: string): Promise<void> {
  const head = '--a\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n';
  const body = `${head}${'x'.repeat(300_000)}\r\n--a--\r\n`;
  const headers = {
    'content-type': 'multipart/form-data; boundary=a',
    'content-length': String(body.length),
    authorization: `Bearer ${adminToken}`,
  };
  return new Promise((resolve) => {
    const sent = request(`${server.url}${path}`, { method, headers });
    sent.on('error', () => undefined);
    sent.on('close', () => resolve());
    sent.write(body.slice(0, Math.floor(body.length * share)), () => setTimeout(() => sent.destroy(), 5));
  });
}

it('uploads that break off leave nothing', async () => {
  const { json } = await server.admin('/files', { method: 'POST', body: form(file('kept')) });
  const path = `/files/${json.data.id}`;
  const shares = [0.01, 0.25, 0.5, 0.99];
  await Promise.all(
    Array.from({ length: cuts }, (_, place) => {
      const share = shares[place % shares.length] ?? 0.5;
      return place % 3 === 0 ? cut(share, path, 'PATCH') : cut(share, '/files', 'POST');
    }),
  );
  await expectTheSame();
  expect(await rows('SELECT id FROM platform.platform_files')).toEqual([{ id: json.data.id }]);
  expect((await server.admin(`/assets/${json.data.id}`)).text).toBe('kept');
});

/** Makes, replaces and removes files until the server is gone; keeps what was acknowledged and not removed again. */
async function work(acknowledged: Set<string>): Promise<void> {
  for (;;) {
    try {
      const { json } = await server.admin('/files', {
        method: 'POST',
        body: form(file('a'.repeat(50_000)), file('b')),
      });
      const [one, other]: readonly { readonly id: string }[] = json.data;
      if (one === undefined || other === undefined) return;
      acknowledged.add(one.id);
      await server.admin(`/files/${one.id}`, { method: 'PATCH', body: form(file('c'.repeat(50_000))) });
      await server.admin(`/files/${other.id}`, { method: 'DELETE' });
    } catch {
      return;
    }
  }
}

/** What was left is as old as it has to be for somebody to remove it. */
async function letTimePass(): Promise<void> {
  // What the database still runs for a server that is gone comes to its end.
  const others =
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'";
  await expect.poll(() => rows(others)).toEqual([]);
  await rows("UPDATE platform.platform_loose_files SET due_at = now() - interval '1 second'");
  const folder = join(project.folder, '.platform', 'uploads', '.incoming');
  for (const name of await filesIn('.incoming')) await utimes(join(folder, name), 0, 0);
}

it('a file that is replaced again and again is there for all who read it', { timeout: 60_000 }, async () => {
  const image = (width: number): Promise<Buffer> =>
    sharp({ create: { width, height: 20, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
  const images = await Promise.all([20, 21, 22, 23].map(image));
  const put = async (path: string, method: string, content: Buffer) => {
    const { status, json, text } = await server.admin(path, { method, body: form(file(content, 'a.png')) });
    expect(status, text).toBe(200);
    return String(json.data.id);
  };
  const id = await put('/files', 'POST', images[0] ?? Buffer.alloc(0));
  const found = new Set<string>();
  let replacing = true;
  const read = async (query: string): Promise<void> => {
    while (replacing) {
      const { status, bytes, text } = await server.admin(`/assets/${id}${query}`);
      const isWhole = query === '?width=10' || images.some((content) => content.equals(bytes));
      found.add(status === 200 ? `200 ${isWhole}` : text);
    }
  };
  const reading = ['', '', '', '?width=10', '?width=10', '?width=10'].map(read);
  for (let round = 0; round < 120; round++) await put(`/files/${id}`, 'PATCH', images[round % 4] ?? Buffer.alloc(0));
  replacing = false;
  await Promise.all(reading);
  expect([...found]).toEqual(['200 true']);
  await expectTheSame();
});

it(
  'servers that are killed leave nothing for long',
  async () => {
    const acknowledged = new Set<string>();
    for (let kill = 0; kill < kills; kill++) {
      const working = Array.from({ length: 4 }, () => work(acknowledged));
      // A server that was killed before anybody was answered shows nothing.
      const answered = (): void => expect(acknowledged.size).toBeGreaterThan(0);
      await Promise.all([sleep(150 + Math.random() * 300), vi.waitFor(answered, { timeout: 20_000, interval: 5 })]);
      process.kill(server.pid, 'SIGKILL');
      await Promise.all([server.ended, ...working]);
      await letTimePass();
      server = await startUnchecked(project.folder, database.url, {}, []);
      await expectTheSame();
      await expect.poll(() => rows('SELECT id FROM platform.platform_loose_files')).toEqual([]);
    }
    expect(acknowledged.size).toBeGreaterThan(0);
    const stored = new Set((await rows('SELECT id FROM platform.platform_files')).map(({ id }) => String(id)));
    expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([]);
  },
  60_000 + kills * 10_000,
);
