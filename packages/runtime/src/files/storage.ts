/** Where the contents of files lie: a folder, or a bucket. Contents have names of our own and never change. */
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { StorageLocation } from '../environment/files.ts';
import { PlatformError } from '../errors.ts';
import { createLocalStorage } from './local-storage.ts';
import { createS3Storage } from './s3-storage.ts';

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

/** Makes the storages; `folder` is where a local one lies that names none. */
export function createStorages(locations: readonly StorageLocation[], folder: string): Storages {
  const storages = new Map(locations.map((location) => [location.name, createStorage(location, folder)]));
  const [entry] = storages;
  if (entry === undefined) throw new Error('There is no storage.');
  const [name, storage] = entry;
  return {
    first: { name, storage },
    of(wanted) {
      const found = storages.get(wanted);
      if (found !== undefined) return found;
      const cause = new Error(`STORAGE_LOCATIONS lacks "${wanted}", where a file lies.`);
      throw new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause });
    },
    stagings: [...new Set([...storages.values()].map(({ staging }) => staging))],
  };
}

function createStorage(location: StorageLocation, folder: string): Storage {
  return location.driver === 'local'
    ? createLocalStorage(location.root ?? folder)
    : createS3Storage(location, join(folder, '.incoming'));
}
