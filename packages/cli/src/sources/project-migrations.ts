/** Migrations of the project itself, SQL files in `migrations/`; a ledger records which the database has had. */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Diagnostic } from '@tablewright/introspect';
import { migrationChecksum, ownTables, type ProjectMigration } from '@tablewright/runtime/tools';
import { CommandError, exitCodes } from '../errors/failures.ts';
import { isPresent } from '../modules/import-config.ts';
import { withLineFeeds } from '../output/output-file.ts';
import { replaceFile } from '../output/staged-files.ts';
import { decodeText } from '../project/environment-file.ts';
import type { Project } from '../project/project.ts';
import { count } from '../terminal/format.ts';
import { sources } from './dialects.ts';
import type { Source } from './source.ts';
import { systemPlace } from './system.ts';

const ending = '.sql';

function folderOf({ folder }: Project): string {
  return join(folder, 'migrations');
}

/** Names of the migrations in the project, without their endings, in their order. */
export async function migrationNames(project: Project): Promise<readonly string[]> {
  const files = isPresent(folderOf(project)) ? await readdir(folderOf(project)) : [];
  return files
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .sort();
}

/** Writes the migrations that the project lacks, and returns their names; those that it has stay as they are. */
export async function keepMigrations(
  project: Project,
  migrations: readonly ProjectMigration[],
): Promise<readonly string[]> {
  const present = new Set(await migrationNames(project));
  const lacking = migrations.filter(({ name }) => !present.has(name) && isFileName(name));
  for (const { name, script: sql } of lacking) {
    await mkdir(folderOf(project), { recursive: true });
    replaceFile(join(folderOf(project), `${name}${ending}`), sql);
  }
  return lacking.map(({ name }) => name);
}

/** The ledger is a table that others may write to: no name of it leads out of the folder. */
function isFileName(name: string): boolean {
  return /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_ .-]*$/u.test(name);
}

/** Migrations of a project that a database has, and those that it lacks. */
type ProjectMigrationState = Awaited<ReturnType<typeof projectMigrationState>>;

/** A migration that has failed, or runs. */
interface HalfApplied {
  readonly name: string;
  /** Such as `1 of 2 statements`. */
  readonly extent: string;
  /** True if the project lacks its file, so that `platform migrate` cannot go on. */
  readonly isMissing: boolean;
}

/** Reads it. Rejects if a file differs from the one that was applied under its name, or if the ledger is not readable. */
export async function projectMigrationState(source: Source, project: Project) {
  const { model } = ownTables(systemPlace(source, project)).statements;
  const [[, ledger] = []] = await source.run(...model.readable);
  if (ledger === '0') throw unreadable('read platform_project_migrations, which is there');
  const listed = await migrationNames(project);
  if (ledger == null && listed.length > 0 && (await model.mayBeHidden(source.run))) {
    throw unreadable('see platform_project_migrations, which may be there');
  }
  const rows = ledger == null ? [] : await source.run(model.migrations, []);
  const begun = ledger == null || model.underWay === null ? [] : await source.run(model.underWay, []);
  const applied = new Map(
    rows.map(([name, checksum, sql]) => [
      name ?? '',
      { name: name ?? '', checksum: checksum ?? '', script: sql ?? '' },
    ]),
  );
  const present = await readMigrations(project, listed, applied);
  for (const { name, checksum } of present) {
    const earlier = applied.get(name);
    const isChanged = earlier !== undefined && earlier.checksum !== checksum;
    if (isChanged && migrationChecksum(withLineFeeds(earlier.script)) !== checksum) throw changed(name);
  }
  const names = new Set(present.map(({ name }) => name));
  return {
    /** Names, in the order of the ledger. */
    applied: [...applied.keys()],
    pending: present.filter(({ name }) => !applied.has(name)),
    /** Migrations of the ledger that the project lacks. */
    missing: [...applied.values()].filter(({ name }) => !names.has(name)),
    /** Migrations of which a part was run, on servers that commit each change of a table. */
    halfApplied: begun.flatMap((row) => readHalfApplied(row, names)),
  } as const;
}

/** Changes of the model stand in the same table; these are undone or completed without a file. */
function readHalfApplied(
  [name, statements, reached]: readonly (string | null)[],
  names: ReadonlySet<string>,
): readonly HalfApplied[] {
  const { file }: { readonly file?: readonly string[] } = JSON.parse(statements ?? '{}');
  const done = Math.ceil(Number(reached) / 2);
  if (name == null || file === undefined || done === 0) return [];
  return [{ name, extent: `${done} of ${count(file.length, 'statement')}`, isMissing: !names.has(name) }];
}

/** Migrations that a database lacks as a whole: none before the first one, as the folder may be that of another tool. */
function lackingOf({
  applied,
  pending,
  halfApplied,
}: Pick<ProjectMigrationState, 'applied' | 'pending' | 'halfApplied'>): readonly ProjectMigration[] {
  const isKept = applied.length + halfApplied.length > 0;
  return isKept ? pending.filter(({ name }) => !halfApplied.some((begun) => begun.name === name)) : [];
}

/**
 * Warnings about migrations that the database lacks as a whole or in part. There are none before the first one, because
 * the folder may be that of another tool, and none where the ledger is not readable.
 */
export async function migrationDiagnostics(source: Source, project: Project): Promise<readonly Diagnostic[]> {
  const { underWay } = ownTables(systemPlace(source, project)).statements.model;
  const warning = (message: string, hint: string, code = 'migrations-pending'): Diagnostic => {
    return { code, severity: 'warning', place: 'migrations', message, hint };
  };
  try {
    if (underWay === null && (await migrationNames(project)).length === 0) return [];
    const { applied, pending, halfApplied } = await projectMigrationState(source, project);
    const lacking = lackingOf({ applied, pending, halfApplied });
    const names = lacking.map(({ name }) => name).join(', ');
    return [
      ...halfApplied.map(({ name, extent, isMissing }) => {
        const message = `The database has had ${name} in part: ${extent}.`;
        return warning(message, isMissing ? restoreFile(name) : 'Run `platform migrate`.', 'migration-half-applied');
      }),
      ...(lacking.length === 0
        ? []
        : [warning(`The database lacks the migrations ${names}.`, 'Run `platform migrate`.')]),
    ];
  } catch (error) {
    // Tables and files that are not readable are told by commands that need them.
    if (!(error instanceof CommandError) || error.exitCode !== exitCodes.invalid) return [];
    return [warning(error.message, error.hint ?? 'Run `platform migrate --status`.', 'migration-unusable')];
  }
}

function restoreFile(name: string): string {
  return `Restore migrations/${name}.sql and run \`platform migrate\`; or undo by hand what it did, and delete its row from platform_project_changes.`;
}

/** Reads the files. One that was applied before others than UTF-8 were refused is read as it was then. */
async function readMigrations(
  project: Project,
  names: readonly string[],
  applied: ReadonlyMap<string, unknown>,
): Promise<readonly ProjectMigration[]> {
  return Promise.all(
    names.map(async (name) => {
      const path = join(folderOf(project), `${name}${ending}`);
      const sql = withLineFeeds(decodeText(path, await readFile(path), !applied.has(name)));
      return { name, script: sql, checksum: migrationChecksum(sql) };
    }),
  );
}

/**
 * Applies the migrations that the database lacks, each as a transaction of its own, and returns their names. Those that
 * the project lacks are written into it. Where changes of tables are no part of transactions, an interrupted one goes
 * on where it was. Needs the platform's own tables.
 */
export async function applyProjectMigrations(
  source: Source,
  project: Project,
  onDone: (name: string, action: 'applied' | 'written') => void,
): Promise<readonly string[]> {
  const { schema } = systemPlace(source, project);
  const { waitForChanges, applyMigration } = await sources[source.family].commands();
  await waitForChanges(source, schema);
  const { pending, missing } = await projectMigrationState(source, project);
  for (const name of await keepMigrations(project, missing)) onDone(name, 'written');
  const done: string[] = [];
  for (const migration of pending) {
    if (await applyMigration(source, schema, migration)) {
      done.push(migration.name);
      onDone(migration.name, 'applied');
    } else {
      // Another machine has applied one of this name meanwhile: its text may be another one.
      await projectMigrationState(source, project);
    }
  }
  return done;
}

function unreadable(doing: string): CommandError {
  return new CommandError(
    exitCodes.database,
    `The role of DATABASE_URL may not ${doing} and says what the database has had.`,
    'Give it SELECT on that table, or on the whole database where the table is not there yet.',
  );
}

function changed(name: string): CommandError {
  return new CommandError(
    exitCodes.invalid,
    `The migration ${name} is not the one that was applied to this database: its checksum differs.`,
    'A migration that was applied never changes: restore its text, and put the change into one of its own.',
  );
}
