/** What the platform's own tables say about collections, fields and relations, as the command line reads it. */
import { readModelTables } from '@platform/introspect';
import type { DeclaredModel } from '@platform/runtime/contract';
import { modelRowsSql, modelTablesSql } from '@platform/runtime/contract';
import type { Project } from './project.ts';
import type { Source } from './source.ts';
import { systemPlace } from './system.ts';

/** Reads it; null where nobody has said anything, or where the tables are not installed or not readable. */
export async function readModel(source: Source, project: Project): Promise<DeclaredModel | null> {
  // The model is changed in PostgreSQL only.
  if (source.family !== 'postgres') return null;
  const { schema } = systemPlace(source, project);
  const [[readable, ledger] = []] = await source.run(modelTablesSql, [schema]);
  return readable === '1' ? readModelTables(await source.run(modelRowsSql(schema, ledger === '1'), [])) : null;
}
