import { existsSync } from 'node:fs';
import { mkdir, rm, rmdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { dialectFacts, familyOf } from '@tablewright/runtime/language';
import { installCommand, type ProjectFile, writeProjectFile } from 'create-tablewright';
import { configName } from '../modules/import-config.ts';
import { checkDeployment, copyDeployment, filesFor } from '../project/deploy-files.ts';
import { loadProject } from '../project/project.ts';
import { databaseUrl, hasDatabase } from '../project/settings.ts';
import { connect } from '../sources/connect.ts';
import { applyProjectMigrations } from '../sources/project-migrations.ts';
import { installSystem } from '../sources/system.ts';
import { count } from '../terminal/format.ts';
import { isScript, ownCommand, quoted } from '../terminal/own-command.ts';
import { type Progress, processProgress } from '../terminal/progress.ts';
import type { GlobalOptions } from './options.ts';

export interface InitOptions extends GlobalOptions {
  /** Take the defaults instead of asking. */
  readonly yes?: boolean;
  /** Install the platform's own tables in the database; without it they are only asked about. */
  readonly system?: boolean;
  /** Also write the files by which the project is deployed or watched: docker, systemd, grafana. */
  readonly deploy?: string;
}

interface Answers {
  readonly schemas: readonly string[];
  readonly system: boolean;
}

const defaults: Answers = { schemas: [], system: false };

/** `platform init`: writes the first files of a project; writes to a database server only if options ask for that. */
export async function init(options: InitOptions): Promise<void> {
  checkDeployment(options.deploy);
  const progress = processProgress(options);
  const folder = resolve(options.project);
  // A wrong address is refused before anything is written.
  const url = databaseUrl({ config: {} });
  await mkdir(folder, { recursive: true });
  const isStarter = isUntouched(folder);
  const canPrompt = !isStarter && options.yes !== true && process.stdin.isTTY === true;
  const answers = canPrompt ? await promptAnswers(url) : defaults;
  await writeAll(folder, await filesFor({ folder, config: configText(answers), hasTables: isStarter }), progress);
  if (options.deploy !== undefined) await copyDeployment(folder, options.deploy, progress);
  if (options.system === true || answers.system) await installTables(folder, progress);
  printNext(folder, progress);
}

/** Writes the files that are not there. A failure leaves none, because a part of a project is not begun again. */
async function writeAll(folder: string, files: readonly ProjectFile[], progress: Progress): Promise<void> {
  const made: string[] = [];
  try {
    for (const file of files) {
      // A configuration of another name counts as well.
      const isThere = file.name.startsWith('platform.config.') && configName(folder) !== undefined;
      const written = !isThere && (await writeProjectFile(folder, file));
      if (written && file.name !== '.gitignore') made.push(join(folder, file.name));
      progress.event('file', { file: file.name, written });
      progress.print(written ? `  ${file.name} written` : `  ${file.name} is there already: left as it is`);
    }
  } catch (error) {
    for (const path of made) await rm(path, { force: true });
    await rmdir(join(folder, 'migrations')).catch(() => undefined);
    throw error;
  }
}

/** True if nothing conflicts with initial tables: no configuration, no rules, no database. */
function isUntouched(folder: string): boolean {
  const present = ['permissions.yaml', 'migrations'].some((name) => existsSync(join(folder, name)));
  const state = { config: {}, stateFolder: join(folder, '.platform') };
  return !present && configName(folder) === undefined && !hasDatabase(state);
}

function printNext(folder: string, progress: Progress): void {
  const install = isScript() ? null : installCommand(folder);
  const path = relative(process.cwd(), folder);
  const commands = [
    ...(install === null ? [] : [path === '' ? install : `(cd ${quoted(path)} && ${install})`]),
    ownCommand('generate', folder),
    ownCommand('start', folder),
  ];
  progress.event('next', { commands });
  progress.print(`Next:\n${commands.map((command) => `  ${command}\n`).join('')}`.trimEnd());
}

/** The configuration in the folder counts, which may have been there before. */
async function installTables(folder: string, progress: Progress): Promise<void> {
  const project = await loadProject(folder);
  const source = await connect(project, progress, { writable: true });
  try {
    const applied = await installSystem(source, project, progress);
    // On a database server `platform migrate` applies the project's migrations.
    const ofProject = source.embedded === null ? [] : await applyProjectMigrations(source, project, () => undefined);
    progress.print(`  ${count(applied.length + ofProject.length, 'migration')} applied to ${source.label}`);
  } finally {
    await source.close();
  }
}

/** On servers without schemas the address names the database. */
async function promptAnswers(url: string | null): Promise<Answers> {
  const hasSchemas = url === null || dialectFacts[familyOf(url)].hasSchemas;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const schemas = hasSchemas ? await terminal.question('Database schemas, comma-separated (empty: all) ') : '';
    const system = await terminal.question(
      "Install the platform's own tables (users, roles …) in the database? (y/N) ",
    );
    return {
      system: /^y(es)?$/i.test(system.trim()),
      schemas: schemas
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    };
  } finally {
    terminal.close();
  }
}

function configText({ schemas }: Answers): string {
  return schemas.length === 0 ? '' : `  database: { schemas: ${JSON.stringify(schemas)} },\n`;
}
