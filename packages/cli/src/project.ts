import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Diagnostic, PermissionDocument } from '@platform/introspect';
import type { PlatformConfig } from '@platform/introspect/config';
import { parsePermissions, readConfig } from '@platform/introspect/resolve';
import { CommandError, exitCodes } from './exit-codes.ts';
import { importConfig } from './import-config.ts';

/** A folder with a configuration, as the commands use it. Paths are absolute. */
export interface Project {
  readonly folder: string;
  readonly config: PlatformConfig;
  /** The permissions file; that of an absent one is empty. */
  readonly permissions: PermissionDocument;
  /** Absolute path of the permissions file, which need not exist. */
  readonly permissionsFile: string;
  /** Of the configuration and the permissions file. */
  readonly diagnostics: readonly Diagnostic[];
  /** Where the generated files go. */
  readonly output: string;
  /** `platform.schema.json`. */
  readonly schemaFile: string;
  /** `.platform`: the embedded database, the admin token and other things that are not for version control. */
  readonly stateFolder: string;
  /** A database that the command line names, which wins over every other. */
  readonly databaseUrl?: string;
}

/**
 * Reads configuration and permissions of the project in a folder. Both files are optional. `change` is the number of the
 * change after which they are read again.
 */
export async function loadProject(folder: string, stateFolder?: string, change = 0): Promise<Project> {
  const absolute = resolve(folder);
  if (!existsSync(absolute)) throw new CommandError(exitCodes.usage, `The folder "${folder}" does not exist.`);
  const { config, diagnostics } = readConfig(await importConfig(absolute, change));
  const fileName = config.permissions ?? 'permissions.yaml';
  const permissionsFile = resolve(absolute, fileName);
  const mustExist = config.permissions !== undefined && config.permissionSource !== 'tables';
  const text = await readPermissions(permissionsFile, mustExist);
  const { document, diagnostics: problems } = parseOnce(text, fileName);
  return {
    folder: absolute,
    config,
    permissions: document,
    permissionsFile,
    diagnostics: [...diagnostics, ...problems],
    output: resolve(absolute, config.output ?? 'generated'),
    schemaFile: join(absolute, 'platform.schema.json'),
    stateFolder: stateFolder ?? join(absolute, '.platform'),
  };
}

let latest: { readonly key: string; readonly parsed: ReturnType<typeof parsePermissions> } | undefined;

/** A file of hundreds of roles may take a second, and whoever develops loads a project again after every change of anything. */
function parseOnce(text: string, fileName: string): ReturnType<typeof parsePermissions> {
  const key = `${fileName}\n${text}`;
  if (latest?.key !== key) latest = { key, parsed: parsePermissions(text, fileName) };
  return latest.parsed;
}

/** Without the file nobody but the administrators may read; one that is asked for by name must be there. */
async function readPermissions(path: string, named: boolean): Promise<string> {
  if (existsSync(path)) return readFile(path, 'utf8');
  if (!named) return '';
  throw new CommandError(
    exitCodes.invalid,
    `The file of permissions "${path}" does not exist.`,
    'Correct "permissions" in platform.config.ts.',
  );
}
