/**
 * Activity and revisions on MySQL and MariaDB. The server numbers the rows. They are written by INSERTs of a known
 * number of rows, because for these both servers assign consecutive numbers and return the first one.
 */

import type { Parameter, Transaction } from '../../../database/database.ts';
import { allRows, createScript, proveCommit, statementRows } from '../../../database/own-statements.ts';
import type { ActivityEntry } from '../../../model/change.ts';
import type { ProjectMigration } from '../../../model/recompiler.ts';
import type { ChangeOrigin } from '../../../system/log-changes.ts';
import type { OwnStatements } from '../../own-tables.ts';
import { quoteMysqlText } from '../texts.ts';
import { mysqlProjectTables } from './model.ts';
import type { MysqlTables } from './tables.ts';

/** Most rows of one statement. Every statement writes a power of two, so that there are few texts to prepare. */
const maxRows = 256;

/** Makes it. Texts that are longer than their columns are cut: a log must never make a change fail. */
export function mysqlLog({ table, list }: MysqlTables): OwnStatements['log'] {
  const activity = `${table('platform_activity')} (action, "user", ip, user_agent, origin, collection, item)`;
  const revisions = `${table('platform_revisions')} (activity, collection, item, data, delta)`;
  const cut = (length: number): string => `LEFT(?, ${length})`;
  const activityRow = `(?, ?, ${[50, 255, 255, 64, 255].map(cut).join(', ')})`;
  const revisionRow = `(?, ${cut(64)}, ${cut(255)}, ?, ?)`;
  // The lists are of numbers: which revision belongs to which other one.
  const nest = createScript(`UPDATE ${table('platform_revisions')} AS r JOIN ${list('$1[]', 'k')} ON r.id = k.v
JOIN ${list('$2[]', 'p')} ON p.n = k.n SET r.parent = p.v`);

  const committed = createScript(proveCommit(`SELECT 1 FROM ${table('platform_activity')} WHERE id = $1`, true));

  return async function log(transaction, { user, ip, userAgent, origin }, changes) {
    const activityRows = changes.map(({ action, collection, item }) => [
      action,
      user,
      ip,
      userAgent,
      origin,
      collection,
      item,
    ]);
    const activities = await insertAll(transaction, activity, activityRow, activityRows);
    await allRows(transaction, committed, activities.slice(0, 1));
    const revised = changes.flatMap((change, index) =>
      change.revision === null ? [] : [{ ...change, revision: change.revision, place: index }],
    );
    const rows = revised.map(({ collection, item, revision: { data, delta }, place: index }) => [
      activities[index] ?? null,
      collection,
      item,
      JSON.stringify(data),
      JSON.stringify(delta),
    ]);
    const made = await insertAll(transaction, revisions, revisionRow, rows);
    const numbers = new Map(revised.map(({ place: position }, index) => [position, made[index] ?? '']));
    const nested = revised.flatMap(({ place: index, parent }) => {
      const [child, above] = [numbers.get(index), parent === null ? undefined : numbers.get(parent)];
      return child === undefined || above === undefined ? [] : [{ own: child, above }];
    });
    if (nested.length === 0) return;
    const literals = [nested.map(({ own: child }) => child), nested.map(({ above }) => above)].map(
      (list) => `{${list.join()}}`,
    );
    await allRows(transaction, nest, literals);
  };
}

async function insertAll(
  transaction: Transaction,
  into: string,
  row: string,
  rows: readonly (readonly Parameter[])[],
): Promise<readonly string[]> {
  const numbers: string[] = [];
  const step = rows.length > 1 ? await stepOf(transaction) : 1;
  for (let start = 0; start < rows.length; ) {
    const count = 2 ** Math.floor(Math.log2(Math.min(rows.length - start, maxRows)));
    const values = rows.slice(start, start + count).flat();
    const text = `INSERT INTO ${into} VALUES ${Array<string>(count).fill(row).join(', ')}`;
    const [[, , first] = []] = await statementRows(transaction, { name: '', text }, values);
    for (let index = 0; index < count; index++) numbers.push(String(Number(first) + index * step));
    start += count;
  }
  return numbers;
}

/** Difference between neighbouring numbers: more than one where several servers write. */
async function stepOf(transaction: Transaction): Promise<number> {
  const text = 'SELECT CAST(@@SESSION.auto_increment_increment AS CHAR)';
  const [[step] = []] = await statementRows(transaction, { name: '', text }, []);
  return Number(step);
}

/** Prints the statement that writes a migration down. `schema` is quoted; empty for the database of the connection. */
export function recordMigration(
  schema: string,
  { name, checksum, script: sql }: ProjectMigration,
  version: string,
): string {
  const values = [name, checksum, sql, version].map(quoteMysqlText);
  return `${mysqlProjectTables(schema).insert} VALUES (${values.join(', ')})`;
}

/** Prints the statement that tells of a change in the activity. Texts are cut to the length of their columns. */
export function activityRow(schema: string, origin: ChangeOrigin, { action, collection, item }: ActivityEntry): string {
  const { user, ip, userAgent, origin: page } = origin;
  const texts = [action, user, ip?.slice(0, 50), userAgent?.slice(0, 255), page?.slice(0, 255), collection, item];
  const values = texts.map((text) => (text == null ? 'NULL' : quoteMysqlText(text)));
  const table = schema === '' ? 'platform_activity' : `${schema}.platform_activity`;
  return `INSERT INTO ${table} (action, \`user\`, ip, user_agent, origin, collection, item) VALUES (${values.join(', ')})`;
}
