import type { Project } from '../../project/project.ts';
import { projectMigrationState } from '../../sources/project-migrations.ts';
import type { Source } from '../../sources/source.ts';
import { systemState } from '../../sources/system.ts';
import { connectionLimit } from '../examine-database.ts';

/** Answers of a database. */
export interface DatabaseFacts {
  /** Connections that the role may have at once; null where that is unknown, as of the embedded database. */
  readonly connections: number | null;
  /** Names of migrations that the database lacks. */
  readonly pending: readonly string[];
}

/** Asks for them. Every question stands alone. */
export async function readDatabase(source: Source, project: Project): Promise<DatabaseFacts> {
  return {
    connections: source.embedded === null ? await connectionLimit(source).catch(() => null) : null,
    pending: [...(await pendingSystem(source, project)), ...(await pendingOfProject(source, project))],
  };
}

async function pendingSystem(source: Source, project: Project): Promise<readonly string[]> {
  try {
    const { installed, pending } = await systemState(source, project);
    return installed ? pending.map(({ id, name }) => `${id} ${name}`) : [];
  } catch {
    // A ledger that cannot be read is a finding of its own.
    return [];
  }
}

async function pendingOfProject(source: Source, project: Project): Promise<readonly string[]> {
  const { pending } = await projectMigrationState(source, project).catch(() => ({ pending: [] }));
  return pending.map(({ name }) => name);
}
