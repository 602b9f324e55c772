/**
 * Where database servers of tests keep their data. `vitest.config.ts` names a folder in memory where there is room: files of
 * a disk cost the system a quarter of the processor's time. Benchmarks keep theirs on the disk.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
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

/** Makes a folder for the data of servers; its name tells the process that removes it. */
export function makeDataFolder(name: string): string {
  const memory = process.env[memoryVariable];
  if (memory !== undefined) removeLeft(memory);
  // root's own TMPDIR may be closed to those as whom it runs servers.
  const parent = memory ?? (process.getuid?.() === 0 ? '/tmp' : tmpdir());
  return mkdtempSync(join(parent, `platform-data-${process.pid}-${name}-`));
}

/** Removes it. Processes of a server that was killed may write for a moment after it. */
export function removeDataFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

/** Removes what killed processes have left, as it would fill the memory. */
function removeLeft(folder: string): void {
  for (const left of readdirSync(folder)) {
    const owner = /^platform-data-(\d+)-/.exec(left)?.[1];
    if (owner === undefined || existsSync(`/proc/${owner}`)) continue;
    try {
      rmSync(join(folder, left), { recursive: true, force: true });
    } catch {
      // That of another user stays.
    }
  }
}
