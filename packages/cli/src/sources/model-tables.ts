/** Reads the declarations of collections, fields and relations from the platform's own tables, for the command line. */
import { readModelTables } from '@tablewright/introspect';
import type { DeclaredModel } from '@tablewright/runtime/language';
import { modelRowsSql, mysqlModelRowsSql } from '@tablewright/runtime/language';
import { modelTablesQuestion } from '@tablewright/runtime/tools';
import type { Project } from '../project/project.ts';
import type { Source } from './source.ts';
import { systemPlace } from './system.ts';

/** Reads it; null if the tables are empty, not installed or not readable. */
export async function readModel(source: Source, project: Project): Promise<DeclaredModel | null> {
  const tables = systemPlace(source, project);
  const [[readable, ledger] = []] = await source.run(...modelTablesQuestion(tables));
  if (readable !== '1') return null;
  const hasLedger = ledger === '1';
  const sql =
    source.family === 'postgres' ? modelRowsSql(tables.schema, hasLedger) : mysqlModelRowsSql(tables.schema, hasLedger);
  return readModelTables(await source.run(sql, []));
}
