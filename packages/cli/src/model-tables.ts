/** What the platform's own tables say about collections, fields and relations, as the command line reads it. */
import { readModelTables } from '@platform/introspect';
import type { DeclaredModel } from '@platform/runtime/contract';
import { defaultSystemSchema, modelRowsSql, modelTablesSql } from '@platform/runtime/contract';
import type { Project } from './project.ts';
import type { Source } from './source.ts';

/** Reads it; null where nobody has said anything, or where the tables are not installed or not readable. */
export async function readModel(source: Source, project: Project): Promise<DeclaredModel | null> {
  // The platform's own tables live in PostgreSQL only so far.
  if (source.family !== 'postgres') return null;
  const schema = quotedSystemSchema(project);
  const [[readable, ledger] = []] = await source.run(modelTablesSql, [schema]);
  return readable === '1' ? readModelTables(await source.run(modelRowsSql(schema, ledger === '1'), [])) : null;
}

/** The schema of the platform's own tables, ready for SQL. */
export function quotedSystemSchema({ config }: Project): string {
  return `"${(config.database?.systemSchema ?? defaultSystemSchema).replaceAll('"', '""')}"`;
}
