/** Temporary files of processes that were killed while they wrote. A file that cannot be removed stays. */
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Milliseconds after which a file that was not moved to its place is abandoned. */
const abandoned = 60 * 60 * 1000;

/** Removes it from a folder that is the platform's own, such as its cache. */
export function removeLeftovers(folder: string): Promise<void> {
  return removeOld(folder, (name) => name.endsWith('.tmp'));
}

/**
 * Removes it from beside a file or a folder, where other files lie, too: only names that begin with its name and a
 * random one.
 */
export function removeLeftoversBeside(path: string): Promise<void> {
  const prefix = `${basename(path)}.`;
  return removeOld(
    dirname(path),
    (name) => name.startsWith(prefix) && /^[0-9a-f-]{36}\.tmp$/.test(name.slice(prefix.length)),
  );
}

async function removeOld(folder: string, isLeft: (name: string) => boolean): Promise<void> {
  const names = (await readdir(folder).catch((): string[] => [])).filter(isLeft);
  await Promise.all(names.map((name) => removeAbandoned(join(folder, name)).catch(() => undefined)));
}

async function removeAbandoned(path: string): Promise<void> {
  const { mtimeMs } = await stat(path);
  if (Date.now() - mtimeMs > abandoned) await rm(path, { recursive: true, force: true });
}
