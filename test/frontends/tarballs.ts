/** The packages of this repository as `pnpm pack` makes them: what a registry would hold. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Top of the repository. */
export const root = join(import.meta.dirname, '../..');

/** Part of a manifest that is read here. */
export interface PackedManifest {
  readonly name: string;
  readonly version: string;
  readonly type?: string;
  readonly license?: string;
  readonly description?: string;
  readonly keywords?: readonly string[];
  readonly engines?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, { readonly types: string; readonly default: string }>>;
  readonly bin?: Readonly<Record<string, string>> | string;
  readonly publishConfig?: Readonly<Record<string, unknown>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** One packed package. */
export interface Tarball {
  /** Name on the registry. */
  readonly name: string;
  /** The archive. */
  readonly path: string;
  /** Bytes of the archive. */
  readonly size: number;
  /** Where it is unpacked. */
  readonly folder: string;
  /** Paths of its files within the folder. */
  readonly files: readonly string[];
  readonly manifest: PackedManifest;
}

let packed: readonly Tarball[] | undefined;

/** Builds and packs every package, once for all files of a run. */
export function packPackages(): readonly Tarball[] {
  packed ??= pack();
  return packed;
}

function pack(): readonly Tarball[] {
  const target = realpathSync(mkdtempSync(join(tmpdir(), 'tablewright-packed-')));
  process.once('exit', () => rmSync(target, { recursive: true, force: true }));
  run(root, 'scripts/build.ts');
  return packageFolders().map((name) => packOne(join(root, 'packages', name), join(target, name)));
}

/** Folders of `packages` that are published. */
export function packageFolders(): readonly string[] {
  return readdirSync(join(root, 'packages')).filter((name) => existsSync(join(root, 'packages', name, 'package.json')));
}

function packOne(source: string, target: string): Tarball {
  mkdirSync(target);
  run(source, join(root, 'node_modules/pnpm/bin/pnpm.cjs'), 'pack', '--pack-destination', target);
  const path = join(target, readdirSync(target)[0] ?? '');
  execFileSync('tar', ['-xzf', path, '-C', target]);
  const folder = join(target, 'package');
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)).sort();
  const manifest: PackedManifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return { name: manifest.name, path, size: statSync(path).size, folder, files, manifest };
}

function run(cwd: string, ...args: string[]): void {
  execFileSync(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
}
