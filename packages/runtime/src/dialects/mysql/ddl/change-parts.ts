/** Parts of a change of the model on MySQL and MariaDB: `change-model.ts` puts them together. */

import type { Transaction } from '../../../database/database.ts';
import type { MigrationConnection } from '../../../database/migration-connection.ts';
import type { CompiledApi } from '../../../language/index.ts';
import type { ModelChange } from '../../../model/change.ts';
import type { ModelSql, ModelStep } from '../../../model/model-sql.ts';
import type { ChangeOrigin } from '../../../system/log-changes.ts';
import { logPlaceOf } from '../../../system/place.ts';
import { mysqlLog } from '../own-tables/log-changes.ts';
import { mysqlTables } from '../own-tables/tables.ts';
import { comesBack } from './drafts.ts';
import { explainMysql } from './explain.ts';
import { mysqlModelSql } from './model-sql.ts';
import type { TableStatement } from './statements.ts';
import { type ChangeUnderWay, runUnderWay } from './under-way.ts';

/** Runs what is to be done to tables. */
export async function execute(
  session: MigrationConnection,
  schema: string,
  change: ChangeUnderWay,
  statements: readonly TableStatement[],
): Promise<void> {
  let location = statements[0]?.place;
  try {
    await runUnderWay(session, schema, change, (number) => {
      location = statements[number]?.place;
    });
  } catch (error) {
    explainMysql(error, location ?? { collection: 'platform_collections', field: null });
  }
}

/** Refuses a change where the rows that are there are in its way. */
export async function check(session: MigrationConnection, step: ModelStep): Promise<void> {
  if (step.kind === 'check') {
    const [[fits] = []] = await session.query(`SELECT CAST((${step.sql}) AS CHAR)`, []);
    if (fits !== '1') throw step.refusal;
  }
  if (step.kind === 'fit' && !(await comesBack(session, step))) throw step.refusal;
}

/** A statement as a migration has it: texts are cut only where a session is not strict. */
export function migrated({ sql, loose }: TableStatement): string {
  return loose
    ? `SET @platform_mode = @@SESSION.sql_mode, SESSION sql_mode = '';\n${sql};\nSET SESSION sql_mode = @platform_mode`
    : sql;
}

/** Tells of a change in the activity. */
export async function report(
  transaction: Transaction,
  api: CompiledApi,
  { activity: entries }: ModelChange,
  origin: ChangeOrigin,
): Promise<void> {
  const location = logPlaceOf(api);
  if (location === null) return;
  const log = mysqlLog(mysqlTables(location));
  await log(
    transaction,
    origin,
    entries.map((entry) => ({ ...entry, revision: null, parent: null })),
  );
}

/** How the server of an API is told of changes. */
export function mysqlSqlOf({ dialect, collections }: CompiledApi): ModelSql {
  const users = collections.find(({ name }) => name === 'platform_users');
  const hasUuid = users?.fields.some(({ name, native }) => name === 'id' && native === 'uuid') === true;
  return mysqlModelSql({ isMariadb: dialect === 'mariadb', hasUuid });
}
