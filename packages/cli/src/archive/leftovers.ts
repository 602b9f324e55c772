import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Milliseconds after which nobody writes a file any more that nobody has moved to its place. */
const abandoned = 60 * 60 * 1000;

/** Removes what processes left behind that were killed while they wrote into a folder of the cache. What cannot be removed stays. */
export async function removeLeftovers(folder: string): Promise<void> {
  const names = (await readdir(folder).catch((): string[] => [])).filter((name) => name.endsWith('.tmp'));
  await Promise.all(names.map((name) => removeOld(join(folder, name)).catch(() => undefined)));
}

async function removeOld(path: string): Promise<void> {
  const { mtimeMs } = await stat(path);
  if (Date.now() - mtimeMs > abandoned) await rm(path, { recursive: true, force: true });
}
