/** A copy of the repository in which a test changes code. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Folders and files that a server of tests is made of. */
const parts = ['packages', 'templates', 'scripts', 'test/support', 'package.json', 'tsconfig.json'];

/** A copy of the repository. */
export interface Scratch {
  readonly folder: string;
  /** Inserts text in a file, in front of the first text that is given. */
  insert(path: string, before: string, text: string): Promise<void>;
  write(path: string, text: string): Promise<void>;
  remove(): Promise<void>;
}

/** Copies the repository, with links to what is installed. */
export async function copyRepository(): Promise<Scratch> {
  await mkdir(join(repository, '.tmp'), { recursive: true });
  const folder = await mkdtemp(join(repository, '.tmp', 'scratch-'));
  for (const part of parts) {
    await cp(join(repository, part), join(folder, part), { recursive: true, verbatimSymlinks: true });
  }
  await linkInstalled(folder);
  return {
    folder,
    async insert(path, before, text) {
      const file = join(folder, path);
      const code = await readFile(file, 'utf8');
      if (!code.includes(before)) throw new Error(`${path} has no ${before}`);
      await writeFile(
        file,
        code.replace(before, () => text + before),
      );
    },
    write: (path, text) => writeFile(join(folder, path), text),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Links every installed package; those of the repository itself lead to their copies. */
async function linkInstalled(folder: string): Promise<void> {
  const modules = join(repository, 'node_modules');
  await mkdir(join(folder, 'node_modules'));
  for (const name of await readdir(modules)) {
    const copied = name === '@tablewright' || name === 'tablewright' || name === 'create-tablewright';
    const target = join(folder, 'node_modules', name);
    if (copied) await cp(join(modules, name), target, { recursive: true, verbatimSymlinks: true });
    else await symlink(join(modules, name), target);
  }
}
