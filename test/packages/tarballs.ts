/** The packages of this repository as `pnpm pack` makes them: what a registry would hold. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

/**
 * Workers of one run share what the first of them packs: a build replaces `dist`, so two at once would spoil each other.
 * The folder has the number of the process that started the workers; those of runs that have ended are removed.
 */
function pack(): readonly Tarball[] {
  const parent = join(root, '.tmp', 'packed');
  const target = join(parent, String(process.ppid));
  mkdirSync(parent, { recursive: true });
  for (const name of readdirSync(parent).filter((run) => !isAlive(Number(run)))) {
    rmSync(join(parent, name), { recursive: true, force: true });
  }
  doOnce(target, () => {
    run(root, 'scripts/build.ts');
    for (const name of packageFolders()) packOne(join(root, 'packages', name), join(target, name));
  });
  return packageFolders().map((name) => readTarball(join(target, name)));
}

/** Does something once for all workers of a run: the first makes the folder and does it, the others wait until it is done. */
export function doOnce(folder: string, work: () => void): void {
  if (claim(folder)) {
    work();
    writeFileSync(join(folder, 'done'), '');
  }
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; !existsSync(join(folder, 'done')); waited++) {
    if (waited > 600) throw new Error(`Another worker was not done with ${folder} within five minutes.`);
    Atomics.wait(pause, 0, 0, 500);
  }
}

/** True for the first who asks. */
function claim(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Folders of `packages` that are published. */
export function packageFolders(): readonly string[] {
  return readdirSync(join(root, 'packages')).filter((name) => existsSync(join(root, 'packages', name, 'package.json')));
}

function packOne(source: string, target: string): void {
  mkdirSync(target);
  run(source, join(root, 'node_modules/pnpm/bin/pnpm.cjs'), 'pack', '--pack-destination', target);
  execFileSync('tar', ['-xzf', join(target, readdirSync(target)[0] ?? ''), '-C', target]);
}

function readTarball(target: string): Tarball {
  const path = join(target, readdirSync(target).find((name) => name.endsWith('.tgz')) ?? '');
  const folder = join(target, 'package');
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)).sort();
  const manifest: PackedManifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return { name: manifest.name, path, size: statSync(path).size, folder, files, manifest };
}

function run(cwd: string, ...args: string[]): void {
  execFileSync(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
}
