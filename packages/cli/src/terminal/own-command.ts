/** The words by which this command was called, so that a hint names a command line that works in the same place. */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join, relative, resolve, sep } from 'node:path';
import { configName } from '../modules/import-config.ts';

interface Call {
  /** The script that Node runs. */
  readonly scriptPath: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The command of this process, with `--project` where the folder is not the current one: `npx platform`. */
export function ownCommand(commandLine: string, folder: string, call: Call = ownCall()): string {
  const shown = relative(call.cwd, resolve(call.cwd, folder));
  const project = shown === '' ? '' : ` --project ${quoted(shown)}`;
  return `${programOf(call)} ${commandLine}${project}`;
}

/**
 * Texts for the user of a project: "Run `platform generate`." names a command line that works where this one was
 * called, and the name of the configuration file there.
 */
export function commandFormatter(folder: string, call: Call = ownCall()): (text: string) => string {
  return (text) =>
    text
      .replace(/`platform ([a-z][^`]*)`/g, (_, commandLine: string) => `\`${ownCommand(commandLine, folder, call)}\``)
      .replaceAll('platform.config.ts', configName(resolve(call.cwd, folder)) ?? 'platform.config.ts');
}

function ownCall(): Call {
  return { scriptPath: process.argv[1] ?? '', cwd: process.cwd(), environment: process.env };
}

/** True if this command is a script of npm, which needs nothing installed in the folder of a project. */
export function isScript({ environment } = ownCall()): boolean {
  return environment.npm_lifecycle_event === 'platform';
}

function programOf(call: Call): string {
  const { scriptPath, cwd } = call;
  // Scripts of npm run in the folder of their package, so relative folders are the same for the next one.
  if (isScript(call)) return 'npm run platform --';
  if (isOnPath(call)) return 'platform';
  if (isInstalled(cwd)) return 'npx platform';
  return fetchedBy(scriptPath) ?? `node ${quoted(relative(cwd, scriptPath))}`;
}

/** The command that fetched the package for this one call, as it does for the next one: npx, `pnpm dlx` or `yarn dlx`; else null. */
function fetchedBy(scriptPath: string): string | null {
  const folders = scriptPath.split(sep);
  if (folders.includes('_npx')) return 'npx tablewright';
  if (folders.includes('dlx')) return 'pnpm dlx tablewright';
  return folders.some((name) => name.startsWith('dlx-')) ? 'yarn dlx tablewright' : null;
}

/** True if a shell finds this command; npm adds folders to the path that no shell has. */
function isOnPath({ scriptPath, environment }: Call): boolean {
  const folders = (environment.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders
    .filter((folder) => !folder.split(sep).includes('node_modules'))
    .some((folder) => isSame(join(folder, 'platform'), scriptPath));
}

function isSame(path: string, scriptPath: string): boolean {
  return existsSync(path) && existsSync(scriptPath) && realpathSync(path) === realpathSync(scriptPath);
}

/** True if npx finds it: in the nearest folder that is a package, or its workspace; else npx asks the registry. */
function isInstalled(cwd: string): boolean {
  const has = (folder: string, name: string): boolean => existsSync(join(folder, name));
  const packages = foldersAbove(cwd).filter((folder) => has(folder, 'package.json') || has(folder, 'node_modules'));
  return packages
    .filter((folder, index) => index === 0 || isWorkspace(folder))
    .some((folder) => has(folder, join('node_modules', '.bin', 'platform')));
}

function isWorkspace(folder: string): boolean {
  const path = join(folder, 'package.json');
  return existsSync(path) && /"workspaces"\s*:/.test(readFileSync(path, 'utf8'));
}

function foldersAbove(folder: string): readonly string[] {
  const parent = dirname(resolve(folder));
  return parent === folder ? [folder] : [folder, ...foldersAbove(parent)];
}

/** A word of a command line. */
export function quoted(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export function commandVersion(): string {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return manifest.version;
}
