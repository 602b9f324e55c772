/** Everything that takes, keeps and gives files, wired together. */
import { join } from 'node:path';
import type { Database } from '../database/database.ts';
import type { DriftGuard } from '../drift-watch.ts';
import type { FilesEnvironment, StorageLocation } from '../environment/files.ts';
import { PlatformError } from '../errors.ts';
import { accessNames } from '../language/descriptors/access-names.ts';
import type { CompiledApi } from '../language/index.ts';
import type { Log } from '../operate/log.ts';
import type { Planner } from '../query/planner.ts';
import type { SystemPlace } from '../system/place.ts';
import { filesName } from '../write/access/system-access.ts';
import type { Writer } from '../write/writer.ts';
import { createFileFinder, type FileFinder } from './find-file.ts';
import { createLooseFiles, type LooseFiles } from './loose-files.ts';
import { createLocalStorage, createS3Storage, type Storage, type Storages } from './storage.ts';
import { createRenderer, type Renderer } from './transform/renderer.ts';
import { Uploads } from './uploads.ts';

interface FileServicesOptions {
  readonly api: CompiledApi;
  /** Null where the platform's own tables are not installed. */
  readonly place: SystemPlace | null;
  readonly database: Database;
  readonly environment: FilesEnvironment;
  /** Folder of files unless the environment names another place. */
  readonly folder: string;
  readonly planner: Planner;
  readonly writer: Pick<Writer, 'workOf' | 'once'>;
  readonly driftGuard: DriftGuard;
  readonly log: Pick<Log, 'warn'>;
}

export interface FileServices {
  readonly storages: Storages;
  readonly loose: LooseFiles;
  readonly uploads: Uploads;
  readonly finder: FileFinder;
  readonly renderer: Renderer;
}

/** Makes them; null where there is no table of files. */
export function createFileServices(options: FileServicesOptions): FileServices | null {
  const { api, place: location, database, environment, folder, planner, writer, driftGuard, log } = options;
  const has = api.collections.some(({ name, system }) => system === true && name === filesName);
  if (location === null || !has) return null;
  const storages = createStorages(environment.locations, folder);
  const loose = createLooseFiles({ database, place: location, storages, log });
  const publicClass = accessNames(api).public;
  return {
    storages,
    loose,
    uploads: new Uploads({ api, writer, storages, loose }),
    finder: createFileFinder({ api, place: location, database, planner, driftGuard, publicClass }),
    renderer: createRenderer(environment.transform, log),
  };
}

/** Makes the storages; `folder` is where a local one lies that names none. */
function createStorages(locations: readonly StorageLocation[], folder: string): Storages {
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
