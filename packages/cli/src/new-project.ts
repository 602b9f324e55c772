/** The files that a new project begins with: those of `templates/projects/api`, which `create-tablewright` copies, too. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { CommandError, exitCodes } from './exit-codes.ts';
import { projectTemplate } from './templates.ts';
import { commandVersion } from './version.ts';

/** A file of a new project, and its text. */
export interface ProjectFile {
  /** From the project's folder on. */
  readonly name: string;
  readonly text: string;
}

/** What decides about the files. */
export interface NewProject {
  readonly folder: string;
  /** Text of `defineConfig`'s argument. */
  readonly config: string;
  /** Whether it begins with tables of its own, in an embedded database that is not made yet. */
  readonly isStarter: boolean;
}

const emptyRules = 'permissions.empty.yaml';

/** The files by the names that they have in this folder. Those that are there already are for others to leave alone. */
export async function projectFiles({ folder, config, isStarter }: NewProject): Promise<readonly ProjectFile[]> {
  const template = projectTemplate();
  if (template === null) throw new CommandError(exitCodes.internal, 'The templates of the command are missing.');
  const paths = await readdir(template, { recursive: true, withFileTypes: true });
  const names = paths
    .filter((entry) => entry.isFile())
    .map((entry) => relative(template, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((name) => name !== 'README.md' && name !== (isStarter ? emptyRules : 'permissions.yaml'))
    .filter((name) => isStarter || dirname(name) !== 'migrations');
  const isCommonJs = !(await isModulePackage(folder));
  return Promise.all(
    names.sort().map(async (name) => ({
      name: nameInProject(name, isCommonJs),
      text: filled(await readFile(join(template, name), 'utf8'), folder, config),
    })),
  );
}

/** npm leaves files called `.gitignore` out of packages, so those of templates begin with a line. */
function nameInProject(name: string, isCommonJs: boolean): string {
  if (name === emptyRules) return 'permissions.yaml';
  if (name === 'platform.config.ts' && isCommonJs) return 'platform.config.mts';
  return name.replace(/^_/, '.');
}

function filled(text: string, folder: string, config: string): string {
  return text
    .replaceAll('{{name}}', packageName(basename(folder)))
    .replaceAll('{{version}}', commandVersion())
    .replace('defineConfig({})', `defineConfig(${config})`);
}

/** A name that npm takes, made of that of a folder. */
function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return name === '' ? 'shop' : name;
}

/** Whether `.ts` files of a folder are modules: its package says so, or there is none yet and it will. */
async function isModulePackage(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => null);
  if (text === null) return true;
  try {
    const manifest: { readonly type?: unknown } | null = JSON.parse(text);
    return manifest?.type === 'module';
  } catch {
    const hint = 'Correct it, and run the command again.';
    throw new CommandError(exitCodes.usage, `"${join(folder, 'package.json')}" is not JSON.`, hint);
  }
}

/** Writes a file where there is none; to `.gitignore` adds the lines that it lacks. False where nothing changed. */
export async function writeProjectFile(folder: string, { name, text }: ProjectFile): Promise<boolean> {
  const path = join(folder, name);
  if (name === '.gitignore') return addLines(path, text);
  if (existsSync(path)) return false;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return true;
}

async function addLines(path: string, text: string): Promise<boolean> {
  const present = await readFile(path, 'utf8').catch(() => '');
  const plain = (line: string): string => line.trim().replace(/^\/|\/$/g, '');
  const ignored = new Set(present.split('\n').map(plain));
  const missing = text.split('\n').filter((line) => line !== '' && !ignored.has(plain(line)));
  if (missing.length === 0) return false;
  const start = present === '' || present.endsWith('\n') ? present : `${present}\n`;
  await writeFile(path, `${start}${missing.join('\n')}\n`);
  return true;
}
