import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Diagnostic } from '@tablewright/introspect';
import type { PlatformConfig } from '@tablewright/introspect/config';
import { readConfig } from '@tablewright/introspect/read-config';
import { databaseUrlProblem } from 'create-tablewright';
import { CommandError, exitCodes } from '../errors/exit-codes.ts';
import { importConfig } from '../modules/import-config.ts';
import { ownVariable } from '../terminal/own-variable.ts';
import { refuseRenamed } from './renamed-packages.ts';

/** Where a project lies and how it is configured: all that is asked of one that was compiled before. Paths are absolute. */
export interface Settings {
  readonly folder: string;
  readonly config: PlatformConfig;
  /** Diagnostics of the configuration. */
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
 * Reads the configuration of the project in a folder, which is optional. `change` is the number of the change after which
 * it is read again.
 */
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

/** Folder of the embedded database. */
export function embeddedFolder({ stateFolder }: Pick<Settings, 'stateFolder'>): string {
  return join(stateFolder, 'database');
}
