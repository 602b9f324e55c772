/** Traces of a change in the platform's own tables, as statements that any process can run to complete it. */
import type { ActivityEntry } from '../../../model/change.ts';
import type { ProjectMigration } from '../../../model/recompiler.ts';
import type { ChangeOrigin } from '../../../system/log-changes.ts';
import { mysqlProjectTables } from '../own-tables/model.ts';
import { quoteMysqlText } from '../texts.ts';

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
