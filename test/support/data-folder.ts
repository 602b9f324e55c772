/**
 * Where database servers of tests keep their data. `vitest.config.ts` names a folder in memory where there is room: files of
 * a disk cost the system a quarter of the processor's time. Benchmarks keep theirs on the disk.
 */
import { existsSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Variable that names the folder in memory. */
export const memoryVariable = 'TEST_MEMORY';

const leastBytes = 8 * 2 ** 30;

/** The folder in memory from which programs may be run, unless it or the machine is small: tests need the other half. */
export function memoryFolder(): string | undefined {
  const folder = '/dev/shm';
  if (!existsSync(folder) || process.availableMemory() < 2 * leastBytes) return undefined;
  const { bavail, bsize } = statfsSync(folder);
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const isRun = mounts.some((line) => line.includes(` ${folder} `) && !line.includes('noexec'));
  return isRun && bavail * bsize >= leastBytes ? folder : undefined;
}

/** Makes a folder for the data of servers. */
export function makeDataFolder(name: string): string {
  // root's own TMPDIR may be closed to those as whom it runs servers.
  const parent = process.env[memoryVariable] ?? (process.getuid?.() === 0 ? '/tmp' : tmpdir());
  return mkdtempSync(join(parent, `platform-${name}-`));
}
