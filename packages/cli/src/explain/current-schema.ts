import { existsSync } from 'node:fs';
import type { Schema } from '@tablewright/introspect/schema';
import type { Facts } from '../compile/facts.ts';
import { readFacts } from '../compile/read-facts.ts';
import { loadFacts, resolveProject } from '../compile/steps.ts';
import type { Project } from '../project/project.ts';
import { refuseNewDatabase } from '../project/settings.ts';
import type { Source } from '../sources/source.ts';
import type { Progress } from '../terminal/progress.ts';

/**
 * The schema as configuration and permissions make it now, from the tables in `platform.schema.json`. The database is
 * read if that file is missing or a connection is at hand. Writes nothing, and makes no embedded database.
 */
export async function currentSchema(project: Project, progress: Progress, source?: Source): Promise<Schema> {
  const facts = await currentFacts(project, progress, source);
  const { schema } = await progress.phase('resolve', () => resolveProject(project, facts, progress));
  return schema;
}

/** The facts of which it is made. */
export async function currentFacts(project: Project, progress: Progress, source?: Source): Promise<Facts> {
  const fromFile = source === undefined && existsSync(project.schemaFile);
  if (source === undefined && !fromFile) refuseNewDatabase(project);
  return fromFile ? loadFacts(project) : readFacts(project, progress, source);
}
