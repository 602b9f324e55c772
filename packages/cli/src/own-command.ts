/** The words by which this command was called, so that a hint names a command line that works in the same place. */
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join, relative, resolve, sep } from 'node:path';

/** How a process was called. */
export interface Call {
  /** The script that Node runs. */
  readonly script: string;
  /** The folder that the command was called in. */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The command of this process, with `--project` where the folder is not the current one: `npx platform`. */
export function ownCommand(name: string, folder: string, call: Call = ownCall()): string {
  const shown = relative(call.cwd, folder);
  const project = shown === '' ? '' : ` --project ${quoted(shown)}`;
  return `${programOf(call)} ${name}${project}`;
}

function ownCall(): Call {
  return { script: process.argv[1] ?? '', cwd: process.cwd(), environment: process.env };
}

function programOf(call: Call): string {
  const { script, cwd, environment } = call;
  // Scripts of npm run in the folder of their package, so relative folders are the same for the next one.
  if (environment.npm_lifecycle_event === 'platform') return 'npm run platform --';
  if (isOnPath(call)) return 'platform';
  if (isInstalled(cwd)) return 'npx platform';
  return `node ${quoted(relative(cwd, script))}`;
}

/** Whether a shell finds this command; npm adds folders to the path that no shell has. */
function isOnPath({ script, environment }: Call): boolean {
  const folders = (environment.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders
    .filter((folder) => !folder.split(sep).includes('node_modules'))
    .some((folder) => isSame(join(folder, 'platform'), script));
}

function isSame(path: string, script: string): boolean {
  return existsSync(path) && existsSync(script) && realpathSync(path) === realpathSync(script);
}

/** Whether npx finds it, which looks into the nearest folder that is a package; elsewhere it asks the registry. */
function isInstalled(cwd: string): boolean {
  const has = (folder: string, name: string): boolean => existsSync(join(folder, name));
  const root = foldersAbove(cwd).find((folder) => has(folder, 'package.json') || has(folder, 'node_modules'));
  return root !== undefined && has(root, join('node_modules', '.bin', 'platform'));
}

function foldersAbove(folder: string): readonly string[] {
  const parent = dirname(resolve(folder));
  return parent === folder ? [folder] : [folder, ...foldersAbove(parent)];
}

function quoted(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
