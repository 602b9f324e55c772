import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { isCached, openCache } from './project-cache.ts';

const folder = mkdtempSync(join(tmpdir(), 'platform-archive-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('an archive is worth opening where this compiler has written descriptions', async () => {
  expect(await isCached(join(folder, 'none'))).toBe(false);
  await keep('collection');
  expect(await isCached(folder)).toBe(false);
  await keep('openapi paths');
  expect(await isCached(folder)).toBe(true);

  const own = join(folder, 'descriptions');
  const [name = ''] = readdirSync(own).filter((one) => one.endsWith('.layer'));
  const content = readFileSync(join(own, name), 'latin1');
  // One entry of another compiler, and a damaged one.
  for (const other of [content.replace(/"stamp":"./, '"stamp":"~'), '', content.slice(0, 20)]) {
    expect(other).not.toBe(content);
    writeFileSync(join(own, name), other, 'latin1');
    expect(await isCached(folder)).toBe(false);
  }
});

test('what a killed process was writing is removed an hour later, when something is written', async () => {
  const own = join(folder, 'descriptions');
  const [old, young] = [join(own, 'old.layer.tmp'), join(own, 'young.layer.tmp')];
  for (const path of [old, young]) writeFileSync(path, 'half');
  const before = Date.now() / 1000 - 3700;
  utimesSync(old, before, before);
  await keep('openapi paths', 'another digest');
  expect(readdirSync(own).filter((name) => name.endsWith('.tmp'))).toEqual(['young.layer.tmp']);
});

/** Keeps a text that a generator of that name has made. */
async function keep(generator: string, digest = 'digest'): Promise<void> {
  const diskCache = await openCache(folder);
  diskCache.keep(generator, digest, { lookups: [], results: '', texts: ['a text'] });
  await diskCache.save();
}
