/** Parts of a change of the model on MySQL and MariaDB: `change-model.ts` puts them together. */
import type { Transaction } from '../../../database/database.ts';
import { toDatabaseError } from '../../../database/errors.ts';
import type { MigrationConnection } from '../../../database/migration-connection.ts';
import { PlatformError } from '../../../errors.ts';
import { invalidPayload } from '../../../json/problems.ts';
import type { CompiledApi } from '../../../language/index.ts';
import { explain, type ModelChange } from '../../../model/change.ts';
import type { ModelSql, ModelStep } from '../../../model/model-sql.ts';
import type { ModelPlace } from '../../../model/table-parts.ts';
import type { ChangeOrigin } from '../../../system/log-changes.ts';
import { logPlaceOf } from '../../../system/place.ts';
import { toMysqlError } from '../driver/errors.ts';
import { errorNumber } from '../own-tables/errors.ts';
import { mysqlLog } from '../own-tables/log-changes.ts';
import { mysqlTables } from '../own-tables/tables.ts';
import { comesBack } from './drafts.ts';
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

/** There is something of this name: a table, column, index or key. */
const exists: ReadonlySet<unknown> = new Set([1050, 1060, 1061, 1826]);

/** Columns and keys that cannot be made: their type, length, default or target does not fit. */
const misfits: ReadonlySet<unknown> = new Set([
  ...[1005, 1063, 1067, 1071, 1074, 1075, 1101, 1118, 1170, 1215, 1239, 1291, 1425, 1426, 1439, 1822, 1830, 3734, 3780],
]);

/** Something else needs it: a key, an index, an expression. */
const depended: ReadonlySet<unknown> = new Set([
  ...[1072, 1451, 1217, 1553, 1828, 1829, 1832, 1833, 1834, 1846, 3108, 3730, 3837, 3959, 3855],
]);

/** Throws it; errors that say nothing about the change become errors of the API. */
export function explainMysql(error: unknown, location: ModelPlace): never {
  if (error instanceof PlatformError) throw error;
  const number = errorNumber(error);
  const name = location.field ?? location.collection;
  if (exists.has(number) || isDuplicateKey(error)) {
    throw invalidPayload(`"${name}" has the name of something that the database has already.`);
  }
  if (misfits.has(number)) throw invalidPayload(`"${name}" cannot be made so: types or keys do not fit.`);
  if (depended.has(number)) {
    const message = `Something else in the database depends on "${name}".`;
    throw new PlatformError('UNPROCESSABLE_ENTITY', message, {}, { cause: error });
  }
  return explain(toDatabaseError(toMysqlError(error)), location);
}

/** MariaDB says of a foreign key whose name is taken that its table cannot be made. */
function isDuplicateKey(error: unknown): boolean {
  return error instanceof Error && errorNumber(error) === 1005 && error.message.includes('errno: 121');
}
