import { report } from '../compile/steps.ts';
import { exitCodes } from '../errors/failures.ts';
import { loadProject, type Project } from '../project/project.ts';
import { connect, connectPresent } from '../sources/connect.ts';
import { applyProjectMigrations, migrationDiagnostics, projectMigrationState } from '../sources/project-migrations.ts';
import type { Source } from '../sources/source.ts';
import { installSystem, systemState } from '../sources/system.ts';
import { count } from '../terminal/format.ts';
import { type Progress, processProgress } from '../terminal/progress.ts';
import type { GlobalOptions } from './options.ts';

export interface MigrateCommandOptions extends GlobalOptions {
  /** Only list applied and pending migrations. */
  readonly status?: boolean;
}

/** `platform migrate`: brings the platform's own tables to this version, and the database to the migrations of the project. */
export async function migrate(options: MigrateCommandOptions): Promise<void> {
  const progress = processProgress(options);
  const project = await loadProject(options.project);
  const isAsking = options.status === true;
  const source = await (isAsking ? connectPresent : connect)(project, progress, { writable: !isAsking });
  try {
    if (isAsking) await printState(source, project, progress);
    else printApplied(await applyAll(source, project, progress), source, progress);
  } finally {
    await source.close();
  }
}

/** The platform's own tables first: the project's migrations may refer to them, and are recorded there. */
async function applyAll(source: Source, project: Project, progress: Progress): Promise<number> {
  const system = await installSystem(source, project, progress);
  const ofProject = await applyProjectMigrations(source, project, (name, action) => {
    progress.event('migration', { name, action });
    if (action === 'written') progress.print(`Wrote migrations/${name}.sql, which the database has had.`);
  });
  report(await migrationDiagnostics(source, project), progress);
  return system.length + ofProject.length;
}

/** Lists every migration; the exit code is 0 if the database has them all. */
async function printState(source: Source, project: Project, progress: Progress): Promise<void> {
  const { applied, pending } = await systemState(source, project);
  for (const { id, name, appliedAt, version } of applied) {
    progress.event('migration', { id, name, action: 'none', appliedAt, version });
    progress.print(`  ${id} ${name}  applied ${appliedAt} by version ${version}`);
  }
  for (const { id, name } of pending) {
    progress.event('migration', { id, name, action: 'pending' });
    progress.print(`  ${id} ${name}  pending`);
  }
  const ofProject = await projectMigrationState(source, project);
  for (const name of ofProject.applied) {
    progress.event('migration', { name, action: 'none' });
    progress.print(`  ${name}  applied`);
  }
  for (const { name, extent, isMissing } of ofProject.halfApplied) {
    progress.event('migration', { name, action: 'half-applied', extent, isMissing });
    progress.print(`  ${name}  applied in part: ${extent}${isMissing ? '; its file is missing' : ''}`);
  }
  const begun = new Set(ofProject.halfApplied.map(({ name }) => name));
  const untouched = ofProject.pending.filter(({ name }) => !begun.has(name));
  for (const { name } of untouched) {
    progress.event('migration', { name, action: 'pending' });
    progress.print(`  ${name}  pending`);
  }
  const waiting = pending.length + begun.size + untouched.length;
  progress.event('summary', { applied: applied.length + ofProject.applied.length, pending: waiting });
  if (waiting > 0) process.exitCode = exitCodes.invalid;
}

function printApplied(applied: number, source: Source, progress: Progress): void {
  progress.event('summary', { applied });
  progress.print(
    applied === 0
      ? `The tables of the platform in ${source.label} are up to date.`
      : `Applied ${count(applied, 'migration')} to ${source.label}.`,
  );
}
