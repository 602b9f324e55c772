import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { EmbeddedInUseError, lockEmbedded } from './embedded-lock.ts';

let folder: string;
let directory: string;
let lock: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'platform-lock-'));
  directory = join(folder, 'state', 'database');
  lock = `${directory}.lock`;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('lets one at a time in', () => {
  const release = lockEmbedded(directory);
  expect(() => lockEmbedded(directory)).toThrow(EmbeddedInUseError);
  release();
  expect(existsSync(lock)).toBe(false);
  lockEmbedded(directory)();
});

it('names the process that uses the directory', () => {
  lockEmbedded(directory)();
  writeFileSync(lock, `${process.ppid}\n`);
  expect(() => lockEmbedded(directory)).toThrow(`in use by process ${process.ppid}`);
});

it('replaces the lock of a process that is gone', async () => {
  const child = spawn(process.execPath, ['--version']);
  await once(child, 'exit');
  lockEmbedded(directory)();
  writeFileSync(lock, `${child.pid}\n`);
  lockEmbedded(directory)();
});

it('replaces the lock of a process of its own number, and one from before the system started', () => {
  lockEmbedded(directory)();
  writeFileSync(lock, `${process.pid}\n`);
  lockEmbedded(directory)();
  writeFileSync(lock, `${process.ppid}\n`);
  utimesSync(lock, 1, 1);
  lockEmbedded(directory)();
});
