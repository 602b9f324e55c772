/** Input files of a project besides its database, as stamps that differ whenever a file does. */
import { readdir, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { configNames } from '../modules/import-config.ts';
import { loadExtensions, loadModules } from '../project/extensions.ts';
import type { Project } from '../project/project.ts';

/** A stamp for each file by its path from the project's folder on. */
export type InputStamps = ReadonlyMap<string, string>;

/**
 * Takes the stamps. Files are checked repeatedly instead of being watched: editors replace files, folders come and go,
 * and not every file system reports changes. Some dozens of files cost a millisecond.
 */
export async function takeStamps(project: Project): Promise<InputStamps> {
  const { folder, config } = project;
  const folders = ['extensions', 'documents', ...(config.templates === undefined ? [] : [config.templates])];
  const listed = await Promise.all(folders.map((subfolder) => filesIn(resolve(folder, subfolder))));
  const modules = await loadModules(project, await loadExtensions(project));
  const paths = [
    ...configNames.map((name) => join(folder, name)),
    project.permissionsFile,
    ...listed.flat(),
    ...modules.map(({ path }) => join(folder, path)),
  ];
  const stamps = await Promise.all([...new Set(paths)].map(async (path) => [path, await stampOf(path)] as const));
  return new Map(
    stamps.flatMap(([path, stamp]) => (stamp === null ? [] : [[relative(folder, path), stamp] as const])).sort(byPath),
  );
}

/** The paths that differ, sorted: changed, new and gone. */
export function changedPaths(before: InputStamps, after: InputStamps): readonly string[] {
  const all = new Set([...before.keys(), ...after.keys()]);
  return [...all].filter((path) => before.get(path) !== after.get(path)).sort();
}

function byPath([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1;
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map(({ parentPath, name }) => join(parentPath, name));
}

/** Null where there is no file. */
async function stampOf(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  if (found === null || !found.isFile()) return null;
  return `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
}
