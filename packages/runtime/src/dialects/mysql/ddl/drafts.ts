/**
 * Drafts: empty copies of the tables that a change is about, on which its statements are tried. They are compiled
 * before any change that others can see. Their names are the platform's own, so nothing serves them.
 */

import type { MigrationConnection } from '../../../database/migration-connection.ts';
import type { TableDraft } from '../../../model/table-parts.ts';
import { namesIn, tick } from './names.ts';
import type { TableStatement } from './statements.ts';

const prefix = 'platform_draft_';

/** The name of a table of ours for the time of a change, quoted. */
export function draftName(ending: string | number): string {
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

/** It lies beside its table: names of other tables are those of its database. */
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
