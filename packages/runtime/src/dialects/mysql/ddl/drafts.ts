/** Drafts: empty copies of the tables that a change is about, on which its statements are tried and compiled first. */
import type { MigrationConnection } from '../../../database/database.ts';
import type { ModelStep, TableDraft } from '../../../model/model-sql.ts';
import { errorNumber } from '../own-tables/errors.ts';
import { namesIn, tick } from '../texts.ts';
import { readTableDefinition, type TableStatement } from './statements.ts';

const prefix = 'platform_draft_';

/** The name of a table of ours for the time of a change, quoted. */
function draftName(ending: string | number): string {
  return tick(`${prefix}${ending}`);
}

/** Makes the drafts. Rejects with what the database refuses of the statements; `about` hears which one is tried. */
export async function makeDrafts(
  { script: source }: MigrationConnection,
  statements: readonly TableStatement[],
  about: (statement: TableStatement) => void,
): Promise<readonly TableDraft[]> {
  const decoded: TableDraft[] = [];
  for (const [index, statement] of statements.entries()) {
    about(statement);
    const { table, kind, onCopy, droppedKeys } = statement;
    const copy = copyOf(statement, index);
    await source(`DROP TABLE IF EXISTS ${copy}`);
    if (kind === 'alter') await source(`CREATE TABLE ${copy} LIKE ${table}`);
    const sql = onCopy(copy);
    if (sql !== null) await source(sql);
    const [name = '', schema = 'public'] = namesIn(table).toReversed();
    const draft = kind === 'drop' ? null : `${prefix}${index + 1}`;
    decoded.push({ schema, table: name, draft, stands: kind !== 'create', droppedKeys });
  }
  return decoded;
}

/** Name of a copy, which lies beside its table: names of other tables are those of its database. */
function copyOf({ table }: TableStatement, index: number): string {
  return [...namesIn(table).slice(0, -1), `${prefix}${index + 1}`].map(tick).join('.');
}

/** Drops the drafts of statements, and every one of the database that a process has left which was ended. */
export async function dropDrafts(
  { query, script: sql }: MigrationConnection,
  statements: readonly TableStatement[] = [],
): Promise<void> {
  const found = await query(
    `SELECT TABLE_NAME FROM information_schema.TABLES
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE '${prefix.replaceAll('_', '\\\\_')}%'`,
    [],
  );
  const left = found.map(([name]) => tick(name ?? ''));
  for (const copy of new Set([...statements.map(copyOf), ...left])) await sql(`DROP TABLE IF EXISTS ${copy}`);
}

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
  const columns = [
    'n bigint AUTO_INCREMENT PRIMARY KEY',
    `was ${before.type} NULL`,
    `fresh ${type}`,
    `back ${before.type} NULL`,
  ];
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
