/** Files whose senders are gone before the disk has answered: nothing of them is left, whenever it answers. */
import fs from 'node:fs';
import files, { mkdtemp, readdir, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stage } from './staging.ts';

/** Milliseconds after which a file is opened, as on a machine whose threads are all taken. */
const late = 30;
const usual = { open: fs.open, openFile: files.open };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-staging-'));
  Object.assign(fs, {
    open: (...given: Parameters<typeof fs.open>) => void setTimeout(() => usual.open(...given), late),
  });
  Object.assign(files, {
    open: async (...given: Parameters<typeof files.open>) => {
      await sleep(late);
      return usual.openFile(...given);
    },
  });
  syncBuiltinESMExports();
});
afterAll(async () => {
  Object.assign(fs, { open: usual.open });
  Object.assign(files, { open: usual.openFile });
  syncBuiltinESMExports();
  await rm(folder, { recursive: true });
});

it.each([0, 5, 45])('leaves nothing of a source that fails after %i ms', async (after) => {
  const source = new PassThrough();
  source.write('some of it');
  const staged = stage(folder, source, 1_000);
  setTimeout(() => source.destroy(new Error('gone')), after);
  await expect(staged).rejects.toThrow('gone');
  await sleep(3 * late);
  expect(await readdir(folder)).toEqual([]);
});

it('leaves nothing of one that failed before, nor of one that is too large', async () => {
  const source = new PassThrough();
  source.on('error', () => undefined);
  source.destroy(new Error('gone'));
  await expect(stage(folder, source, 1_000)).rejects.toThrow('gone');
  const large = new PassThrough();
  large.end('more than is allowed');
  await expect(stage(folder, large, 10)).rejects.toThrow('at most 10 bytes');
  await sleep(3 * late);
  expect(await readdir(folder)).toEqual([]);
});

it('writes what comes', async () => {
  const source = new PassThrough();
  const staged = stage(folder, source, 1_000);
  source.end('all of it');
  expect(await staged).toMatchObject({ size: 9, head: Buffer.from('all of it') });
  expect(await readdir(folder)).toHaveLength(1);
});
