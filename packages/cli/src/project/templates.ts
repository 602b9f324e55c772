import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandError, exitCodes } from '../errors/exit-codes.ts';
import type { Project } from './project.ts';

/**
 * The platform's own templates lie beside the published package's code, or at the top of the repository. Packages of
 * the repository may hold older ones since they were packed.
 */
const ownFolder = (
  import.meta.url.endsWith('.ts') ? ['../../../../templates/'] : ['../../templates/', '../../../../templates/']
)
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(path));

/** The folder of the platform's own templates. */
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
