import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Diagnostic, PermissionDocument } from '@platform/introspect';
import { parsePermissions, readConfig } from '@platform/introspect';
import type { PlatformConfig } from '@platform/introspect/config';
import { CommandError, exitCodes } from './exit-codes.ts';

/** A folder with a configuration, as the commands use it. Paths are absolute. */
export interface Project {
  readonly folder: string;
  readonly config: PlatformConfig;
  readonly permissions: PermissionDocument;
  /** Of the configuration and the permissions file. */
  readonly diagnostics: readonly Diagnostic[];
  /** Where the generated files go. */
  readonly output: string;
  /** `platform.schema.json`. */
  readonly schemaFile: string;
  /** `.platform`: the embedded database, the admin token and other things that are not for version control. */
  readonly stateFolder: string;
}

const configNames = ['platform.config.ts', 'platform.config.mjs', 'platform.config.js'];

/** Reads configuration and permissions of the project in a folder. Both files are optional. */
export async function loadProject(folder: string, stateFolder?: string): Promise<Project> {
  const absolute = resolve(folder);
  if (!existsSync(absolute)) throw new CommandError(exitCodes.usage, `The folder "${folder}" does not exist.`);
  const { config, diagnostics } = readConfig(await importConfig(absolute));
  const fileName = config.permissions ?? 'permissions.yaml';
  const { document, diagnostics: problems } = parsePermissions(await readOptional(join(absolute, fileName)), fileName);
  return {
    folder: absolute,
    config,
    permissions: document,
    diagnostics: [...diagnostics, ...problems],
    output: join(absolute, config.output ?? 'generated'),
    schemaFile: join(absolute, 'platform.schema.json'),
    stateFolder: stateFolder ?? join(absolute, '.platform'),
  };
}

async function importConfig(folder: string): Promise<unknown> {
  const name = configNames.find((candidate) => existsSync(join(folder, candidate)));
  if (name === undefined) return {};
  try {
    const module: { readonly default?: unknown } = await import(pathToFileURL(join(folder, name)).href);
    return module.default ?? missingExport(name);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      exitCodes.invalid,
      `${name} could not be loaded: ${reason}`,
      'It must be TypeScript that Node runs natively: types only, no enums or decorators.',
    );
  }
}

function missingExport(name: string): never {
  throw new CommandError(
    exitCodes.invalid,
    `${name} has no default export.`,
    'Write `export default defineConfig({ … })`.',
  );
}

async function readOptional(path: string): Promise<string> {
  return existsSync(path) ? readFile(path, 'utf8') : '';
}
