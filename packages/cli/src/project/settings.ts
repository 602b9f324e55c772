import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Diagnostic } from '@tablewright/introspect';
import type { PlatformConfig } from '@tablewright/introspect/config';
import { readConfig } from '@tablewright/introspect/read-config';
import { databaseUrlProblem } from 'create-tablewright';
import { CommandError, DiagnosticsError, exitCodes } from '../errors/failures.ts';
import { configName, importConfig } from '../modules/import-config.ts';
import { ownVariable } from '../terminal/own-variable.ts';

/** Place and configuration of a project: all that is asked of one that was compiled before. Paths are absolute. */
export interface Settings {
  readonly folder: string;
  readonly config: PlatformConfig;
  readonly diagnostics: readonly Diagnostic[];
  /** Folder of the generated files. */
  readonly output: string;
  /** The permissions file, which need not exist. */
  readonly permissionsFile: string;
  /** `platform.schema.json`. */
  readonly schemaFile: string;
  /** `.platform`: the embedded database, the admin token and other things that are not for version control. */
  readonly stateFolder: string;
  /** A database that the command line names, which wins over every other. */
  readonly databaseUrl?: string;
}

/** Name of the permissions file where the configuration names none. */
export const defaultPermissions = 'permissions.yaml';

/** Reads the optional configuration of a project; `change` is the number of the change that it is read after. */
export async function loadSettings(folder: string, stateFolder?: string, change = 0): Promise<Settings> {
  const absolute = resolve(folder);
  if (!existsSync(absolute)) throw new CommandError(exitCodes.usage, `The folder "${folder}" does not exist.`);
  if (!statSync(absolute).isDirectory()) throw new CommandError(exitCodes.usage, `"${folder}" is no folder.`);
  await refuseRenamed(absolute);
  const { config, diagnostics } = readConfig(await importConfig(absolute, change));
  return {
    folder: absolute,
    config,
    diagnostics,
    output: resolve(absolute, config.output ?? 'generated'),
    permissionsFile: resolve(absolute, config.permissions ?? defaultPermissions),
    schemaFile: join(absolute, 'platform.schema.json'),
    stateFolder: stateFolder ?? join(absolute, '.platform'),
  };
}

/** The database that a project talks to: the environment wins over the configuration; null is the embedded one. Rejects a wrong URL. */
export function databaseUrl({
  databaseUrl: override,
  config,
}: Pick<Settings, 'config' | 'databaseUrl'>): string | null {
  if (override !== undefined) return checkUrl(override, 'The URL of --from');
  const variable = ownVariable('DATABASE_URL');
  if (variable !== null) return checkUrl(variable, 'DATABASE_URL');
  const url = config.database?.url;
  return url === undefined ? null : checkUrl(url, '`database.url` in platform.config.ts');
}

function checkUrl(url: string, subject: string): string {
  const problem = databaseUrlProblem(url, subject);
  if (problem === null) return url;
  throw new CommandError(exitCodes.usage, problem.message, problem.hint);
}

export function embeddedFolder({ stateFolder }: Pick<Settings, 'stateFolder'>): string {
  return join(stateFolder, 'database');
}

/** Throws where the configuration or an extension of a project imports such a name. Reads the texts and runs nothing. */
async function refuseRenamed(folder: string): Promise<void> {
  const found = filesOf(folder).flatMap((path) => renamedImports(path, readFileSync(join(folder, path), 'utf8')));
  if (found.length === 0) return;
  const { printDiagnostics } = await import('@tablewright/introspect/resolve');
  throw new DiagnosticsError(found, `${printDiagnostics(found, { color: false })}\nNothing was written.`);
}

function filesOf(folder: string): readonly string[] {
  const config = configName(folder);
  const extensions = join(folder, 'extensions');
  const entries = existsSync(extensions) ? readdirSync(extensions, { recursive: true, withFileTypes: true }) : [];
  const code = entries
    .filter((entry) => entry.isFile() && /\.m?[jt]s$/.test(entry.name) && !entry.parentPath.includes('node_modules'))
    .map((entry) => join('extensions', entry.parentPath.slice(extensions.length), entry.name));
  return [...(config === undefined ? [] : [config]), ...code.sort()];
}

/** One for each line of a file that imports such a name, with the line to write instead. */
function renamedImports(path: string, text: string): readonly Diagnostic[] {
  return text.split('\n').flatMap((line, index): readonly Diagnostic[] => {
    const name = imported.exec(line)?.[1];
    if (name === undefined) return [];
    const now = nameNow(name);
    return [
      {
        code: 'renamed-package',
        severity: 'error',
        place: `${path}:${index + 1}`,
        message: `"${name}" is "${now}" now; the old name belongs to another product.`,
        hint: `Write: ${line.replace(name, now).trim()}`,
      },
    ];
  });
}

const imported = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*['"](@platform\/[\w./-]+)['"]/;

function nameNow(name: string): string {
  return name.replace(/^@platform\/cli\b/, 'tablewright').replace(/^@platform\//, '@tablewright/');
}

/** True if there is a database to ask: one that an address names, or an embedded one that was made before. */
export function hasDatabase(project: Pick<Settings, 'config' | 'databaseUrl' | 'stateFolder'>): boolean {
  return databaseUrl(project) !== null || isWhole(embeddedFolder(project));
}

/** File beside an embedded database while it is made. */
export function unfinishedFile(folder: string): string {
  return `${folder}.new`;
}

/** True if an embedded database was made with all its migrations. */
function isWhole(folder: string): boolean {
  return existsSync(join(folder, 'PG_VERSION')) && !existsSync(unfinishedFile(folder));
}

/** Rejects where an embedded database would have to be made first, which a command that only asks must not do. */
export function refuseNewDatabase(project: Settings, hint = 'Set DATABASE_URL.'): void {
  if (hasDatabase(project)) return;
  throw new CommandError(
    exitCodes.database,
    'There is no database to ask: DATABASE_URL is not set, and no embedded one was made yet.',
    hint,
  );
}
