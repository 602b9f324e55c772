/** Installs packages into a project by the package manager that it is used with. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ownVersion } from './templates.ts';

const managers = ['npm', 'pnpm', 'yarn'] as const;

/** A program that installs packages. */
export type PackageManager = (typeof managers)[number];

/** The manager of that name, or null. */
export function managerCalled(name: string): PackageManager | null {
  return managers.find((manager) => manager === name) ?? null;
}

/** Package manager that runs this process, as it says itself; else npm. */
export function runningManager(userAgent = process.env.npm_config_user_agent ?? ''): PackageManager {
  return managerCalled(userAgent.split('/')[0] ?? '') ?? 'npm';
}

const lockFiles: ReadonlyMap<string, PackageManager> = new Map([
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['package-lock.json', 'npm'],
]);

/** Package manager of the nearest lock file, else the one that runs this process. */
function packageManagerOf(folder: string): PackageManager {
  for (const path of foldersFrom(folder)) {
    const found = [...lockFiles].find(([name]) => existsSync(join(path, name)));
    if (found !== undefined) return found[1];
  }
  return runningManager();
}

/** Generated code imports these; not every package manager lets a project import packages that it does not name. */
const packages = ['tablewright', '@tablewright/runtime', '@tablewright/client'];

/**
 * The command that installs what a project needs, or null where it is installed.
 * @example const command = installCommand('/srv/api', 'pnpm'); // pnpm install
 */
export function installCommand(folder: string, manager = packageManagerOf(folder)): string | null {
  const folders = foldersFrom(folder);
  const root = folders.find((path) => existsSync(join(path, 'package.json')));
  const manifest = root === undefined ? '' : readFileSync(join(root, 'package.json'), 'utf8');
  if (manifest.includes('"tablewright"')) {
    const isInstalled = folders.some((path) => existsSync(join(path, 'node_modules', 'tablewright')));
    return isInstalled ? null : `${manager} install`;
  }
  const add = manager === 'npm' ? 'npm install --save-exact' : `${manager} add --exact`;
  return [add, ...packages.map((name) => `${name}@${ownVersion()}`)].join(' ');
}

/** The command line that runs `platform` where it is installed. */
export function runPlatform(manager: PackageManager, terms: string): string {
  const run = { npm: 'npx', pnpm: 'pnpm exec', yarn: 'yarn run' }[manager];
  return `${run} platform ${terms}`;
}

/** Installs the project's packages by its manager, whose output goes to stderr. False if it fails. */
export async function installPackages(folder: string, manager: PackageManager): Promise<boolean> {
  const quiet = manager === 'npm' ? ['--no-audit', '--no-fund'] : [];
  const isWindows = process.platform === 'win32';
  const child = spawn(manager, ['install', ...quiet], { cwd: folder, stdio: ['ignore', 2, 2], shell: isWindows });
  return new Promise((done) => {
    child.on('error', () => done(false));
    child.on('exit', (code) => done(code === 0));
  });
}

/** Files that a manager needs beside the manifest: without them Yarn writes no folder that a server could run from. */
export function managerFiles(manager: PackageManager): readonly { readonly name: string; readonly text: string }[] {
  if (manager !== 'yarn') return [];
  // The empty lock file says that the project is no part of another one in a folder above.
  return [
    { name: '.yarnrc.yml', text: 'nodeLinker: node-modules\n' },
    { name: 'yarn.lock', text: '' },
  ];
}

function foldersFrom(folder: string): readonly string[] {
  const path = resolve(folder);
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...foldersFrom(parent)];
}
