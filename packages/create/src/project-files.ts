/** The files that a new project begins with. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { InputError } from './check-input.ts';
import { emptyRules, isTemplateFile, ownVersion, templateFolders } from './templates.ts';

/** A file of a new project, and its text. */
export interface ProjectFile {
  /** From the project's folder on. */
  readonly name: string;
  readonly text: string;
}

/** Choices that decide about the files. */
interface ProjectChoice {
  readonly template: string;
  readonly name: string;
  /** True if it begins with the template's tables; a database that has tables gets rules without them. */
  readonly hasTables: boolean;
}

/**
 * The files of a template, by the names that they have in a project.
 * @example const files = await projectFiles({ template: 'api', name: 'shop', hasTables: true });
 */
export async function projectFiles(choice: ProjectChoice): Promise<readonly ProjectFile[]> {
  const folder = folderOf(choice.template);
  const names = await filesBelow(folder);
  const canBeEmpty = names.includes(emptyRules);
  const withTables = choice.hasTables || !canBeEmpty;
  const selected = names.filter((name) =>
    withTables ? name !== emptyRules : name !== 'permissions.yaml' && !name.startsWith('migrations/'),
  );
  return Promise.all(
    selected.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8');
      return { name: nameInProject(name), text: name === 'package.json' ? manifestText(text, choice.name) : text };
    }),
  );
}

/**
 * Rules for the tables that an API begins with, as a project gets them.
 * @example const text = await starterRules();
 */
export function starterRules(): Promise<string> {
  return readFile(join(folderOf('api'), 'permissions.yaml'), 'utf8');
}

function folderOf(template: string): string {
  const folders = templateFolders();
  const folder = folders.get(template);
  if (folder !== undefined) return folder;
  throw new InputError(`There is no template "${template}".`, `Templates are ${[...folders.keys()].join(', ')}.`);
}

/** Paths of the files of a template. Reads folder by folder: Yarn runs packages from archives, in which a recursive list fails. */
async function filesBelow(folder: string, parent = ''): Promise<readonly string[]> {
  const entries = await readdir(join(folder, parent), { withFileTypes: true });
  const found = entries.map(async (entry) => {
    const path = parent === '' ? entry.name : `${parent}/${entry.name}`;
    if (!isTemplateFile(path)) return [];
    return entry.isDirectory() ? filesBelow(folder, path) : [path];
  });
  return (await Promise.all(found)).flat().sort();
}

/** npm leaves files called `.gitignore` out of packages, so they are packed under another name. */
function nameInProject(name: string): string {
  if (name === '_gitignore') return '.gitignore';
  return name === emptyRules ? 'permissions.yaml' : name;
}

/** The manifest with the name of the project, and with the packages of Tablewright that belong to this one. */
function manifestText(text: string, name: string): string {
  const manifest: { readonly dependencies?: Readonly<Record<string, string>> } = JSON.parse(text);
  const isOurs = (dependency: string): boolean => /^(?:@tablewright\/.+|tablewright)$/.test(dependency);
  const dependencies = Object.entries(manifest.dependencies ?? {}).map(([dependency, version]) => [
    dependency,
    isOurs(dependency) ? ownVersion() : version,
  ]);
  return `${JSON.stringify({ ...manifest, name, dependencies: Object.fromEntries(dependencies) }, null, 2)}\n`;
}

/**
 * Writes a file where there is none; to `.gitignore` adds the lines that it lacks. False where nothing changed.
 * @example await writeProjectFile('/srv/shop', { name: 'permissions.yaml', text: await starterRules() });
 */
export async function writeProjectFile(folder: string, { name, text }: ProjectFile, mode = 0o666): Promise<boolean> {
  const path = join(folder, name);
  if (name === '.gitignore') return addLines(path, text);
  if (existsSync(path)) return false;
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(path, text, { mode, flag: 'wx' });
  } catch (error) {
    // A part of a file would be left alone later, as if people had written it.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) await rm(path, { force: true });
    throw error;
  }
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
