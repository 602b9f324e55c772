/** A copy of the repository as a user has it after cloning: what the sample compiles and keeps lies in the copy. */
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The part of the repository that `npm start` needs. */
const copied = ['package.json', 'pnpm-lock.yaml', 'scripts', 'packages', 'templates', 'fixtures'];

/** A folder in which `npm start` has never run. */
export interface SampleHome {
  readonly root: string;
  /** Folder of the sample's project; its output is below. */
  readonly project: string;
  /** Folder of the embedded database, the tokens, uploads and mails. */
  readonly state: string;
  remove(): Promise<void>;
}

/** Copies the repository without anything that was generated, and links the installed packages. */
export async function createSampleHome(): Promise<SampleHome> {
  const parent = join(repository, '.tmp');
  await mkdir(parent, { recursive: true });
  const root = await mkdtemp(join(parent, 'sample-'));
  const fresh = (path: string): boolean =>
    !/^(fixtures\/[^/]+\/(generated|migrations|platform\.schema\.json)|packages\/[^/]+\/dist|.*\.test\.ts)$/.test(
      relative(repository, path),
    );
  for (const name of copied) {
    await cp(join(repository, name), join(root, name), { recursive: true, verbatimSymlinks: true, filter: fresh });
  }
  await linkPackages(root);
  return {
    root,
    project: join(root, 'fixtures', 'magazine'),
    state: join(root, '.platform'),
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** Packages of others are those of the repository; the platform's own are the copied ones, as after an installation. */
async function linkPackages(root: string): Promise<void> {
  const installed = join(repository, 'node_modules');
  const modules = join(root, 'node_modules');
  await mkdir(join(modules, '@tablewright'), { recursive: true });
  for (const name of await readdir(installed)) {
    if (name !== '@tablewright' && name !== 'tablewright') await symlink(join(installed, name), join(modules, name));
  }
  await symlink(join('..', 'packages', 'cli'), join(modules, 'tablewright'));
  for (const name of await readdir(join(installed, '@tablewright'))) {
    await symlink(join('..', '..', 'packages', name), join(modules, '@tablewright', name));
  }
}
