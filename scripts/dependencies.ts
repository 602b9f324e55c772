/** Other people's packages that the published ones bring, as they are installed here. */
import { readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** What a manifest tells of a package. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: unknown;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Reads the manifest of a package's folder. */
export function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** An installed package. */
export interface InstalledPackage {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** Manifests of everything that a package needs to run. */
export function dependenciesOf(folder: string): readonly Manifest[] {
  return packagesFor(folder).map(({ manifest }) => manifest);
}

/**
 * Everything that a package needs to run, each version once, sorted by name; of optional packages those for this machine.
 * Packages of this repository are followed and left out. Throws where something is not installed.
 */
export function packagesFor(folder: string): readonly InstalledPackage[] {
  const found = new Map<string, InstalledPackage>();
  const visit = (at: string): void => {
    const { dependencies = {}, optionalDependencies = {} } = manifestIn(at);
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const where = findPackage(name, at);
      if (where === null && Object.hasOwn(optionalDependencies, name)) continue;
      if (where === null) throw new Error(`${name} is not installed, which ${at} needs.`);
      const manifest = manifestIn(where);
      const id = `${manifest.name}@${manifest.version}`;
      if (found.has(id)) continue;
      found.set(id, { folder: where, manifest });
      visit(where);
    }
  };
  visit(folder);
  const others = [...found].filter(([id]) => !/^(?:@tablewright\/|(?:create-)?tablewright@)/.test(id));
  return others.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, installed]) => installed);
}

/** Folder in which a package finds another one, as Node looks for it; null where it is not installed. */
export function findPackage(name: string, from: string): string | null {
  const folders = createRequire(join(from, 'package.json')).resolve.paths(name) ?? [];
  const found = folders.map((folder) => join(folder, name)).find(isPackage);
  // What a package needs lies beside the package itself, and not beside a link to it.
  return found === undefined ? null : realpathSync(found);
}

function isPackage(folder: string): boolean {
  try {
    return manifestIn(folder).name !== undefined;
  } catch {
    return false;
  }
}

/** The checksum of a package in the lock file of pnpm, as SHA-512 in base64; undefined for one that is not there. */
export function checksumIn(lock: string, { name, version }: Manifest): string | undefined {
  const literal = `${name}@${version}`.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  const [, sum] =
    new RegExp(`^  '?${literal}'?:\\n    resolution: \\{integrity: sha512-([\\w+/=]+)`, 'm').exec(lock) ?? [];
  return sum;
}
