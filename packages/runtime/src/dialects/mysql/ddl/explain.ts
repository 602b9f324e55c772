/**
 * Meaning of errors of MySQL and MariaDB for the author of a change of the model. Source: the servers' manuals, "Error
 * Codes".
 */

import { toDatabaseError } from '../../../database/errors.ts';
import { PlatformError } from '../../../errors.ts';
import { invalidPayload } from '../../../json/problems.ts';
import { explain } from '../../../model/change.ts';
import type { ModelPlace } from '../../../model/table-parts.ts';
import { toMysqlError } from '../driver/errors.ts';
import { errorNumber } from '../own-tables/errors.ts';

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
