import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeLeftoversBeside, replaceFile } from './staged-files.ts';

test('what a killed process left beside the output goes after an hour, and nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'platform-leftovers-'));
  const id = '0b3c1c9e-8f5e-4c59-9a7e-1f1f64c1a001';
  const old = [`generated.${id}.tmp`, 'generated.mine.tmp', `other.${id}.tmp`, 'generated'];
  for (const name of [...old, `generated.${id.replace('0', '1')}.tmp`]) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'file'), '');
  }
  const hoursAgo = new Date(Date.now() - 2 * 60 * 60 * 1000);
  for (const name of old) await utimes(join(folder, name), hoursAgo, hoursAgo);
  await removeLeftoversBeside(join(folder, 'generated'));
  const left = await readdir(folder);
  await rm(folder, { recursive: true });
  expect(left.sort()).toEqual([`generated.${id.replace('0', '1')}.tmp`, ...old.slice(1)].sort());
});

test('a file that is replaced keeps its mode, and leaves nothing beside it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'platform-replaced-'));
  const path = join(folder, 'permissions.yaml');
  await writeFile(path, 'before');
  await chmod(path, 0o664);
  replaceFile(path, 'after');
  const found = [await readFile(path, 'utf8'), (await stat(path)).mode & 0o777, await readdir(folder)];
  await rm(folder, { recursive: true });
  expect(found).toEqual(['after', 0o664, ['permissions.yaml']]);
});
