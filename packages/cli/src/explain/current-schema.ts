import { existsSync } from 'node:fs';
import type { Schema } from '@tablewright/introspect/schema';
import { refuseNewDatabase } from '../present-database.ts';
import type { Progress } from '../progress.ts';
import type { Project } from '../project.ts';
import { readFacts } from '../read-facts.ts';
import type { Source } from '../source.ts';
import { type Facts, loadFacts, resolveProject } from '../steps.ts';

/**
 * The schema as configuration and permissions make it now, from the tables in `platform.schema.json`; from the database
 * if that file is missing or a connection is at hand. Writes nothing, and makes no embedded database.
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
