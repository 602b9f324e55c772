import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { ExtensionSource } from '@platform/compiler';
import type { Project } from './project.ts';

/** Folder of a project's own code. */
const folderName = 'extensions';

/** The files of the folder `extensions`, by name; tests and declarations beside them are not of the server. */
export async function loadExtensions({ folder, output }: Project): Promise<readonly ExtensionSource[]> {
  const path = join(folder, folderName);
  const names = await readdir(path).catch(() => []);
  const wanted = names.filter((name) => /(?<!\.d|\.test)\.ts$/.test(name)).sort();
  const from = relative(output, path).split(sep).join('/');
  return Promise.all(
    wanted.map(async (name) => ({
      path: `${folderName}/${name}`,
      text: await readFile(join(path, name), 'utf8'),
      from: `${from.startsWith('.') ? from : `./${from}`}/${name}`,
    })),
  );
}
