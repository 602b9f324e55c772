/** Contents in a folder. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PlatformError } from '../errors.ts';
import { unstage } from './staging.ts';
import { renditionsOf, type Storage } from './storage.ts';

/** Makes the storage of a folder, which is made when something is put there. */
export function createLocalStorage(root: string): Storage {
  const staging = join(root, '.incoming');
  const pathOf = (name: string): string => join(root, ...name.split('/'));

  async function receive(name: string, from: string): Promise<void> {
    const to = pathOf(name);
    await mkdir(dirname(to), { recursive: true });
    await rename(from, to);
    await syncFolder(dirname(to));
  }

  return {
    staging,
    put: (name, path) => reached(() => receive(name, path)),
    putBytes: (name, bytes) =>
      reached(async () => {
        await mkdir(staging, { recursive: true });
        const path = join(staging, randomUUID());
        try {
          await writeFile(path, bytes, { flush: true, mode: 0o600 });
          await receive(name, path);
        } catch (error) {
          await unstage(path);
          throw error;
        }
      }),
    open: (name, range) =>
      reached(async () => {
        const file = await openThere(pathOf(name));
        return file === null ? null : file.createReadStream({ ...range });
      }),
    remove: (name) =>
      reached(async () => {
        await rm(pathOf(name), { force: true });
        await rm(pathOf(renditionsOf(name)), { recursive: true, force: true });
      }),
  };
}

async function openThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** A name is as durable as its folder. Some systems cannot sync folders, and need not. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path).catch(() => null);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

/** True if an error says that a file is missing. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** A disk that is full or gone is a service that cannot be used. */
export async function reached<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    throw new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause: error });
  }
}
