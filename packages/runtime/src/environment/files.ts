/** Variables of files: their place, maximum sizes, and image transformations. Source: API specification, section 16. */
import { isNetwork } from './networks.ts';
import {
  elementsIn,
  type Need,
  type Read,
  type Reading,
  readAddress,
  readChoice,
  readDuration,
  readInteger,
  readLongDuration,
  readMatching,
  readSize,
  readText,
} from './values.ts';

/** Everything about files that the surroundings of a server decide. Durations are milliseconds, sizes are bytes. */
export type FilesEnvironment = ReturnType<typeof readFiles>;

/** A place for files, by the name that rows have for it. */
export type StorageLocation =
  | { readonly name: string; readonly driver: 'local' /** Null: the default folder. */; readonly root: string | null }
  | {
      readonly name: string;
      readonly driver: 's3';
      readonly bucket: string;
      readonly region: string;
      /** Null: that of Amazon in the region. */
      readonly endpoint: string | null;
      readonly key: string;
      readonly secret: string;
      /** Prefix of the names of objects; empty for none. */
      readonly root: string;
    };

export type TransformEnvironment = FilesEnvironment['transform'];

/** Limits of files that are fetched from elsewhere. */
export type ImportEnvironment = FilesEnvironment['import'];

export function readFiles(read: Read, requireVariable: Need) {
  const locations = read<readonly string[]>('STORAGE_LOCATIONS', readNames, ['local']);
  return {
    /** Places of files; new ones go to the first. */
    locations: locations.map((name) => readLocation(name, read, requireVariable)),
    maxUploadSize: read('FILES_MAX_UPLOAD_SIZE', readSize, 100 * 1024 ** 2),
    /** Time that a client may keep an asset. */
    cacheTtl: read('ASSETS_CACHE_TTL', readLongDuration, 30 * 86_400_000),
    transform: {
      /** Pixels along one side, of originals and of results. */
      maxDimension: read('ASSETS_TRANSFORM_IMAGE_MAX_DIMENSION', readInteger(1, 65_535), 6000),
      /** Entries of `transforms`. */
      maxOperations: read('ASSETS_TRANSFORM_MAX_OPERATIONS', readInteger(0, 100), 5),
      timeout: read('ASSETS_TRANSFORM_TIMEOUT', readDuration, 7500),
      /** Images that are made at the same time. */
      maxConcurrent: read('ASSETS_TRANSFORM_MAX_CONCURRENT', readInteger(1, 1000), 25),
    },
    import: {
      /** Addresses and CIDR blocks. */
      denied: read<readonly string[]>('IMPORT_IP_DENY_LIST', readNetworks, []),
      allowed: read<readonly string[]>('IMPORT_IP_ALLOW_LIST', readNetworks, []),
      maxSize: read('IMPORT_MAX_FILE_SIZE', readSize, 50 * 1024 ** 2),
      timeout: read('IMPORT_TIMEOUT', readDuration, 10_000),
      ports: read<readonly number[]>('IMPORT_PORTS', readPorts, [80, 443]),
    },
  } as const;
}

function readLocation(name: string, read: Read, requireVariable: Need): StorageLocation {
  const variable = (end: string): string => `STORAGE_${name.toUpperCase()}_${end}`;
  const driver = read<'local' | 's3'>(variable('DRIVER'), readChoice(['local', 's3']), 'local');
  if (driver === 'local') {
    // Files that were meant for a bucket would lie on one machine.
    read(variable('BUCKET'), () => ({ problem: `needs ${variable('DRIVER')}=s3.` }), null);
    return { name, driver, root: read<string | null>(variable('ROOT'), readText, null) };
  }
  return {
    name,
    driver,
    bucket: requireVariable(variable('BUCKET'), readBucket, ''),
    region: read(variable('REGION'), readText, 'us-east-1'),
    endpoint: read<string | null>(variable('ENDPOINT'), readAddress, null),
    key: requireVariable(variable('KEY'), readText, ''),
    secret: requireVariable(variable('SECRET'), readText, ''),
    root: read(variable('ROOT'), readPrefix, ''),
  };
}

const readBucket = readMatching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket.');

function readPrefix(text: string): Reading<string> {
  const value = text.replace(/^\/+|\/+$/g, '');
  return /^[\w./-]*$/.test(value) ? { value } : { problem: 'must have letters, digits, ".", "-", "_" and "/" only.' };
}

function readNames(text: string): Reading<readonly string[]> {
  const names = text.split(',').map((name) => name.trim());
  const different = new Set(names.map((name) => name.toUpperCase()));
  return names.every((name) => /^[a-z][a-z0-9_]{0,62}$/i.test(name)) && different.size === names.length
    ? { value: names }
    : { problem: 'must be a list of names of letters, digits and "_", which differ in more than case.' };
}

function readNetworks(text: string): Reading<readonly string[]> {
  const value = elementsIn(text);
  return value.every(isNetwork)
    ? { value }
    : { problem: 'must be a comma-separated list of addresses and CIDR blocks.' };
}

function readPorts(text: string): Reading<readonly number[]> {
  const ports = text.split(',').map((port) => (/^\d{1,5}$/.test(port.trim()) ? Number(port) : 0));
  return ports.every((port) => port >= 1 && port <= 65_535)
    ? { value: ports }
    : { problem: 'must be a comma-separated list of ports.' };
}
