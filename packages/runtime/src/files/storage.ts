/** Where the contents of files lie: a folder, or a bucket. Contents have names of our own and never change. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { PlatformError } from '../errors.ts';
import { unstage } from './staging.ts';

/** A part of a content: its first and its last byte. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** One place for contents. Rejects with SERVICE_UNAVAILABLE if it cannot be reached. */
export interface Storage {
  /** Folder in which files are written that are still on their way; it may not exist. */
  readonly staging: string;
  /** Moves a file of the staging folder here, which may be gone afterwards. A part of it is never visible. */
  put(name: string, path: string, type: string): Promise<void>;
  /** The same for bytes. */
  putBytes(name: string, bytes: Buffer, type: string): Promise<void>;
  /** Null when there is none of this name. */
  open(name: string, range?: ByteRange): Promise<Readable | null>;
  /** Removes a content and everything whose name begins with `renditionsOf` it. Nothing happens when they are not there. */
  remove(name: string): Promise<void>;
}

/** The storages of a server. */
export interface Storages {
  /** Where new files are put. */
  readonly first: { readonly name: string; readonly storage: Storage };
  /** By the name of a row. Throws SERVICE_UNAVAILABLE for one that is configured no more. */
  of(name: string): Storage;
  /** Every folder in which files are written that are still on their way. */
  readonly stagings: readonly string[];
}

/** Prefix of the names of all renditions of a content. */
export function renditionsOf(name: string): string {
  return `renditions/${name}/`;
}

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
function isMissing(error: unknown): boolean {
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
