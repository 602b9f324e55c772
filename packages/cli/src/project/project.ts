import { readFile } from 'node:fs/promises';
import type { Diagnostic, PermissionDocument } from '@tablewright/introspect';
import { parsePermissions } from '@tablewright/introspect/resolve';
import { starterRules } from 'create-tablewright';
import { CommandError, exitCodes, reasonOf } from '../errors/failures.ts';
import { isPresent } from '../modules/import-config.ts';
import { decodeText } from './environment-file.ts';
import { defaultPermissions, loadSettings, type Settings } from './settings.ts';

/** A folder with a configuration and permissions, as the commands use it. Paths are absolute. */
export interface Project extends Settings {
  /** The permissions file; that of an absent one is empty. */
  readonly permissions: PermissionDocument;
  /** True for the unchanged file of a new project: its rules are for the tables that come with it. */
  readonly hasStarterRules: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads configuration and permissions of the project in a folder. Both files are optional. `change` is the number of the
 * change after which they are read again.
 * @example const { config, diagnostics } = await loadProject('/srv/api');
 */
export async function loadProject(folder: string, stateFolder?: string, change = 0): Promise<Project> {
  const settings = await loadSettings(folder, stateFolder, change);
  const { config, diagnostics, permissionsFile } = settings;
  const fileName = config.permissions ?? defaultPermissions;
  const mustExist = config.permissions !== undefined && config.permissionSource !== 'tables';
  const text = await readPermissions(permissionsFile, mustExist);
  const { document, diagnostics: problems } = parseOnce(text, fileName);
  return {
    ...settings,
    permissions: document,
    hasStarterRules: text === (await starterRules()),
    diagnostics: [...diagnostics, ...problems],
  };
}

let latest: { readonly key: string; readonly parsed: ReturnType<typeof parsePermissions> } | undefined;

/** Parses a text once: a large file may take a second, and development loads the project after every change. */
function parseOnce(text: string, fileName: string): ReturnType<typeof parsePermissions> {
  const key = `${fileName}\n${text}`;
  if (latest?.key !== key) latest = { key, parsed: parsePermissions(text, fileName) };
  return latest.parsed;
}

/** Without the file only administrators may read; a file that the configuration names must exist. */
async function readPermissions(path: string, named: boolean): Promise<string> {
  if (isPresent(path)) return decodeText(path, await readFile(path).catch((error) => refuse(path, error)));
  if (!named) return '';
  throw new CommandError(
    exitCodes.invalid,
    `The file of permissions "${path}" does not exist.`,
    'Correct "permissions" in platform.config.ts.',
  );
}

function refuse(path: string, error: unknown): never {
  throw new CommandError(exitCodes.invalid, `The file of permissions "${path}" cannot be read: ${reasonOf(error)}.`);
}
