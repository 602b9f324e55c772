/** Processes that read and draw media. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { createMediaWorkers } from './workers.ts';

/** Processes that this one has started. */
function children(): readonly number[] {
  const listed = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' });
  return listed.split('\n').flatMap((line) => {
    const [pid, parent, ...args] = line.trim().split(/\s+/);
    return Number(parent) === process.pid && args.join(' ').includes('media/worker') ? [Number(pid)] : [];
  });
}

it('take the place of one that has ended, without an answer that is lost', { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'platform-media-'));
  const path = join(folder, 'image.png');
  await writeFile(
    path,
    await sharp({ create: { width: 7, height: 5, channels: 3, background: 'red' } })
      .png()
      .toBuffer(),
  );
  const workers = createMediaWorkers({ atOnce: 1, waiting: 4, longestMs: 20_000 });
  const read = () => workers.run('', async () => ({ kind: 'image', path }));
  expect(await read()).toMatchObject({ facts: { width: 7, height: 5 } });
  const before = children();
  expect(before).toHaveLength(1);
  for (const pid of before) process.kill(pid, 'SIGKILL');
  expect(await read()).toMatchObject({ facts: { width: 7, height: 5 } });
  expect(children()).not.toEqual(before);
  for (const pid of children()) process.kill(pid, 'SIGKILL');
  await rm(folder, { recursive: true });
});

it('read nothing of a file that is gone, and do the next task', { timeout: 60_000 }, async () => {
  const workers = createMediaWorkers({ atOnce: 1, waiting: 4, longestMs: 20_000 });
  expect(await workers.run('', async () => ({ kind: 'image', path: '/nowhere' }))).toMatchObject({
    failure: expect.any(String),
  });
  expect(await workers.run('', async () => null)).toBeNull();
  for (const pid of children()) process.kill(pid, 'SIGKILL');
});
