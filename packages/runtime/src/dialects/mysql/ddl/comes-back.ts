/** Checks that values survive another type: they are written into it, and back, beside their table. */

import type { MigrationConnection } from '../../../database/migration-connection.ts';
import type { ModelStep } from '../../../model/model-sql.ts';
import { errorNumber } from '../own-tables/errors.ts';
import { readTableDefinition } from './column-definition.ts';
import { draftName } from './drafts.ts';

/** Texts that are too long, and what a condition refuses. Source: the servers' manuals, "Error Codes". */
const misfits: ReadonlySet<unknown> = new Set([1406, 3819, 4025]);

/** Tries every value of a column. Rejects with what the database says of one that is none of the type. */
export async function comesBack(
  { query, script: sql }: MigrationConnection,
  { table, column, type }: Extract<ModelStep, { kind: 'fit' }>,
): Promise<boolean> {
  const [[, printed] = []] = await query(`SHOW CREATE TABLE ${table}`, []);
  const before = readTableDefinition(printed ?? '').columns.get(column.slice(1, -1).replaceAll('``', '`'));
  if (before === undefined) throw new Error(`The database does not describe the column ${column}.`);
  const trial = draftName('values');
  const columns = [`was ${before.type} NULL`, `fresh ${type}`, `back ${before.type} NULL`];
  try {
    await sql(`CREATE TABLE ${trial} (${columns.join(', ')}) DEFAULT CHARACTER SET utf8mb4`);
    await sql(
      `INSERT INTO ${trial} (was, fresh) SELECT ${column}, ${column} FROM ${table} WHERE ${column} IS NOT NULL`,
    );
    await sql(`UPDATE ${trial} SET back = fresh`);
    const other = 'NOT (CAST(back AS BINARY) <=> CAST(was AS BINARY))';
    const [[same] = []] = await query(`SELECT CAST(NOT EXISTS (SELECT 1 FROM ${trial} WHERE ${other}) AS CHAR)`, []);
    return same === '1';
  } catch (error) {
    if (misfits.has(errorNumber(error))) return false;
    throw error;
  } finally {
    await sql(`DROP TABLE IF EXISTS ${trial}`);
  }
}
