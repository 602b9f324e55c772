import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { ExtensionSource, ModuleSource } from '@tablewright/compiler';
import { configName, isPresent } from '../modules/import-config.ts';
import type { Project } from './project.ts';

/** Folder of a project's own code. */
const folderName = 'extensions';

/** The files of the folder `extensions`, by name, without tests, declarations and hidden files. */
export async function loadExtensions({ folder, output }: Project): Promise<readonly ExtensionSource[]> {
  const path = join(folder, folderName);
  const names = isPresent(path) ? await readdir(path) : [];
  const selected = names.filter((name) => /^[^.].*(?<!\.d|\.test)\.m?ts$/.test(name)).sort();
  const from = slashed(relative(output, path));
  const read = selected.map(async (name) => {
    const text = await readFile(join(path, name), 'utf8').catch(nullIfNoFile);
    const source = { path: `${folderName}/${name}`, from: `${from.startsWith('.') ? from : `./${from}`}/${name}` };
    return text === null ? [] : [{ ...source, text }];
  });
  return (await Promise.all(read)).flat();
}

/** A folder of such a name, and a file that went away since it was listed, are none. */
function nullIfNoFile(error: unknown): null {
  if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EISDIR')) return null;
  throw error;
}

/** The modules of the project that extensions import, and those that these import; without generated files. */
export function loadModules(
  project: Project,
  extensions: readonly ExtensionSource[],
): Promise<readonly ModuleSource[]> {
  return followImports(project, extensions, (path) => /\.m?ts$/.test(path));
}

/** The files of any kind that the configuration imports, and those that these import. */
export async function loadConfigModules(project: Project): Promise<readonly ModuleSource[]> {
  const path = configName(project.folder);
  const text = path === undefined ? null : await readFile(join(project.folder, path), 'utf8').catch(nullIfNoFile);
  return path === undefined || text === null ? [] : followImports(project, [{ path, text }], () => true);
}

async function followImports(
  { folder, output }: Project,
  roots: readonly ModuleSource[],
  isFollowed: (path: string) => boolean,
): Promise<readonly ModuleSource[]> {
  const paths = new Set(roots.map(({ path }) => join(folder, path)));
  const modules: ModuleSource[] = [];
  const pending = roots.flatMap(({ path, text }) => importsOf(join(folder, path), text));
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (paths.has(path) || path.startsWith(output + sep) || !isFollowed(path)) continue;
    paths.add(path);
    const text = await readFile(path, 'utf8').catch(() => null);
    if (text === null) continue;
    modules.push({ path: slashed(relative(folder, path)), text });
    pending.push(...importsOf(path, text));
  }
  return modules.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Path of the generated files, from the project's folder on. */
export function outputOf({ folder, output }: Project): string {
  return slashed(relative(folder, output));
}

/** Files that a module names by relative paths; a path that is found in a comment does no harm. */
function importsOf(path: string, text: string): readonly string[] {
  const named = text.matchAll(/\b(?:from|import)\s*\(?\s*(['"])(\.{1,2}\/[^'"]+)\1/g);
  return [...named].flatMap(([, , name]) => (name === undefined ? [] : [join(dirname(path), name)]));
}

function slashed(path: string): string {
  return path.split(sep).join('/');
}
