/** Reads the declarations of collections, fields and relations from the platform's own tables, for the command line. */
import { readModelTables } from '@tablewright/introspect';
import type { DeclaredModel } from '@tablewright/runtime/language';
import { ownTables } from '@tablewright/runtime/tools';
import type { Project } from '../project/project.ts';
import type { Source } from './source.ts';
import { systemPlace } from './system.ts';

/** Reads it; null if the tables are empty, not installed or not readable. */
export async function readModel(source: Source, project: Project): Promise<DeclaredModel | null> {
  const { model } = ownTables(systemPlace(source, project)).statements;
  const [[readable, ledger] = []] = await source.run(...model.readable);
  return readable === '1' ? readModelTables(await source.run(model.rows(ledger === '1'), [])) : null;
}
