import type { Project } from '../project/project.ts';
import type { Progress } from '../terminal/progress.ts';
import { applyProjectMigrations, migrationNames } from './project-migrations.ts';
import type { Source } from './source.ts';
import { installSystem } from './system.ts';

/** Applies the project's migrations to an embedded database that was just made; without migrations it stays empty. */
export async function beginDatabase(source: Source, project: Project, progress: Progress): Promise<void> {
  const names = await migrationNames(project);
  if (names.length === 0) return;
  await installSystem(source, project, progress);
  await applyProjectMigrations(source, project, (name, action) => {
    progress.event('migration', { name, action });
    progress.print(`  migrations/${name}.sql ${action}`);
  });
}
