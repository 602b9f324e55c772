/** The files that `platform init` writes: those of a template of `create-tablewright`, as they fit a folder that may hold a project. */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type ProjectFile, projectFiles } from 'create-tablewright';
import { CommandError, exitCodes } from '../errors/exit-codes.ts';

/** Options of the files. */
export interface NewProject {
  readonly folder: string;
  /** Lines of the argument of `defineConfig` that come before those of the template. */
  readonly config: string;
  /** True if it begins with tables of its own, in an embedded database that is not made yet. */
  readonly hasTables: boolean;
}

/** The files by the names that they have in this folder. Those that are there already are for others to leave alone. */
export async function filesFor({ folder, config, hasTables }: NewProject): Promise<readonly ProjectFile[]> {
  const files = await projectFiles({ template: 'api', name: packageName(basename(folder)), hasTables });
  const configName = (await isModulePackage(folder)) ? 'platform.config.ts' : 'platform.config.mts';
  return files
    .filter(({ name }) => name !== 'README.md')
    .map((file) =>
      file.name === 'platform.config.ts'
        ? { name: configName, text: file.text.replace('defineConfig({\n', `defineConfig({\n${config}`) }
        : file,
    );
}

/** A name that npm takes, made of that of a folder. */
function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return name === '' ? 'api' : name;
}

/** True if `.ts` files of a folder are modules: its package says so, or there is none yet and the new one will. */
async function isModulePackage(folder: string): Promise<boolean> {
  const path = join(folder, 'package.json');
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return true;
  try {
    const manifest: { readonly type?: unknown } | null = JSON.parse(text);
    return manifest?.type === 'module';
  } catch {
    throw new CommandError(exitCodes.usage, `"${path}" is not JSON.`, 'Correct it, and run the command again.');
  }
}
