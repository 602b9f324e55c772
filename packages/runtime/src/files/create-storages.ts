import { join } from 'node:path';
import type { StorageLocation } from '../environment/files.ts';
import { PlatformError } from '../errors.ts';
import { createLocalStorage } from './local-storage.ts';
import { createS3Storage } from './s3-storage.ts';
import type { Storage, Storages } from './storage.ts';

/** Makes the storages; `folder` is where a local one lies that names none. */
export function createStorages(locations: readonly StorageLocation[], folder: string): Storages {
  const storages = new Map(locations.map((location) => [location.name, createStorage(location, folder)]));
  const [entry] = storages;
  if (entry === undefined) throw new Error('There is no storage.');
  const [name, storage] = entry;
  return {
    first: { name, storage },
    of(requested) {
      const found = storages.get(requested);
      if (found !== undefined) return found;
      const cause = new Error(`STORAGE_LOCATIONS lacks "${requested}", where a file lies.`);
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
