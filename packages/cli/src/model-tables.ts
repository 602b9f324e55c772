/** What the platform's own tables say about collections, fields and relations, as the command line reads it. */
import { readModelTables } from '@tablewright/introspect';
import { modelTablesQuestion } from '@tablewright/runtime';
import type { DeclaredModel } from '@tablewright/runtime/contract';
import { modelRowsSql, mysqlModelRowsSql } from '@tablewright/runtime/contract';
import type { Project } from './project.ts';
import type { Source } from './source.ts';
import { systemPlace } from './system.ts';

/** Reads it; null where nobody has said anything, or where the tables are not installed or not readable. */
export async function readModel(source: Source, project: Project): Promise<DeclaredModel | null> {
  const place = systemPlace(source, project);
  const [[readable, ledger] = []] = await source.run(...modelTablesQuestion(place));
  if (readable !== '1') return null;
  const hasLedger = ledger === '1';
  const sql =
    source.family === 'postgres' ? modelRowsSql(place.schema, hasLedger) : mysqlModelRowsSql(place.schema, hasLedger);
  return readModelTables(await source.run(sql, []));
}
