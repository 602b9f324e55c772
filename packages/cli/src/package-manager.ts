/** How packages come into a project: by the package manager that it is used with. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { commandVersion } from './version.ts';

type PackageManager = 'npm' | 'pnpm' | 'yarn';

const lockFiles: Readonly<Record<string, PackageManager>> = {
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'package-lock.json': 'npm',
};

/** What generated code imports is named, too: not every package manager lets a project import what it does not name. */
const packages = ['tablewright', '@tablewright/runtime', '@tablewright/client'];

/** The command that installs what the project needs, or null where it is installed. */
export function installCommand(folder: string, userAgent = process.env.npm_config_user_agent ?? ''): string | null {
  const manager = packageManager(folder, userAgent);
  const { manifest, isInstalled } = packageOf(folder);
  if (manifest.includes('"tablewright"')) return isInstalled ? null : `${manager} install`;
  const names = packages.map((name) => `${name}@${commandVersion()}`).join(' ');
  return `${manager} ${manager === 'npm' ? 'install' : 'add'} ${names}`;
}

/** That of the nearest lock file, else the one that runs this command, else npm. */
function packageManager(folder: string, userAgent: string): PackageManager {
  for (const path of foldersFrom(folder)) {
    const name = Object.keys(lockFiles).find((file) => existsSync(join(path, file)));
    const found = name === undefined ? undefined : lockFiles[name];
    if (found !== undefined) return found;
  }
  const [running] = userAgent.split('/');
  return running === 'pnpm' || running === 'yarn' ? running : 'npm';
}

/** Text of the nearest package.json, and whether the command lies where that package finds it. */
function packageOf(folder: string): { readonly manifest: string; readonly isInstalled: boolean } {
  const folders = foldersFrom(folder);
  const root = folders.find((path) => existsSync(join(path, 'package.json')));
  const manifest = root === undefined ? '' : readFileSync(join(root, 'package.json'), 'utf8');
  return { manifest, isInstalled: folders.some((path) => existsSync(join(path, 'node_modules', 'tablewright'))) };
}

function foldersFrom(folder: string): readonly string[] {
  const path = resolve(folder);
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...foldersFrom(parent)];
}
