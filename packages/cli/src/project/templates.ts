import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ModuleSource } from '@tablewright/compiler';
import type { ClientPackages } from '@tablewright/compiler/files';
import { CommandError, exitCodes } from '../errors/failures.ts';
import { isPresent } from '../modules/import-config.ts';
import type { Project } from './project.ts';
import type { Settings } from './settings.ts';

/** The platform's templates lie beside the published package's code, or at the top of the repository. */
const ownFolder = (
  import.meta.url.endsWith('.ts') ? ['../../../../templates/'] : ['../../templates/', '../../../../templates/']
)
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(path));

export function templatesFolder(): string {
  if (ownFolder === undefined) throw new Error('The templates are not installed.');
  return ownFolder;
}

/** Text of every template by its name, those of the project in place of the platform's own of the same name. */
export async function loadTemplates(project: Project): Promise<ReadonlyMap<string, string>> {
  const shipped = await readTemplates(templatesFolder());
  const { templates } = project.config;
  if (templates === undefined) return new Map(shipped);
  const overriding = await readTemplates(resolve(project.folder, templates));
  const unknown = overriding.find(([name]) => !shipped.some(([shippedName]) => shippedName === name));
  if (unknown !== undefined) {
    throw new CommandError(
      exitCodes.invalid,
      `"${join(templates, unknown[0])}" replaces no template.`,
      `Templates are ${shipped.map(([name]) => name).join(', ')}.`,
    );
  }
  return new Map([...shipped, ...overriding]);
}

async function readTemplates(folder: string): Promise<readonly (readonly [name: string, text: string])[]> {
  const names = await readdir(folder).catch(() => null);
  if (names === null) {
    throw new CommandError(
      exitCodes.invalid,
      `The folder of templates "${folder}" cannot be read.`,
      'Correct "templates" in platform.config.ts.',
    );
  }
  const selected = names.filter((name) => name.endsWith('.hbs')).sort();
  return Promise.all(selected.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const));
}

/** Folder of the GraphQL documents that a project's roles ask; below it one folder for each role. */
const folderName = 'documents';

export async function loadDocuments({ folder }: Project): Promise<readonly ModuleSource[]> {
  const path = join(folder, folderName);
  const entries = isPresent(path) ? await readdir(path, { recursive: true, withFileTypes: true }) : [];
  const files = entries.filter((entry) => entry.isFile() && /\.(graphql|gql)$/.test(entry.name));
  const names = files.map(({ parentPath, name }) => relative(path, join(parentPath, name)));
  return Promise.all(
    names.sort().map(async (name) => ({
      path: name.split(sep).join('/'),
      text: await readFile(join(path, name), 'utf8'),
    })),
  );
}

/** Names as the configuration has them, else after the name in `package.json`; undefined where there is neither. */
export async function clientPackagesOf({
  folder,
  config,
}: Pick<Settings, 'folder' | 'config'>): Promise<ClientPackages | undefined> {
  const { packageName } = config.client ?? {};
  if (packageName !== undefined) return { name: packageName, place: 'platform.config.ts: client.packageName' };
  const project = nameIn(await readFile(join(folder, 'package.json'), 'utf8').catch(() => ''));
  // npm takes capitals in old names only.
  return project === null
    ? undefined
    : { name: `${project.toLowerCase()}-client-{class}`, place: 'package.json: name' };
}

function nameIn(manifest: string): string | null {
  try {
    const value: unknown = JSON.parse(manifest);
    const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : null;
    return typeof name === 'string' && name !== '' ? name : null;
  } catch {
    // A file that is not JSON stops npm, whose message is better.
    return null;
  }
}
