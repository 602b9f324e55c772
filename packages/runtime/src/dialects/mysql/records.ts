/** How values stand within the records and lists of MySQL and MariaDB, whose form `mysql.ts` tells. */
import type { Value } from '../dialect.ts';
import { isColumn, plainValue } from './raw-columns.ts';

/** A value as arguments of the CONCAT that makes a record: a column that is never null needs none of its own. */
export function within(value: Value): string {
  if (value.present !== true || value.nested) return encoded(value);
  const { expression } = value;
  const plain = plainValue(expression);
  if (plain !== undefined) return `'${plain.sign}', ${plain.expression}, ';'`;
  return isColumn(expression) ? `LENGTH(${expression}), ':', ${expression}` : encoded(value);
}

/** A value as one text, be it missing. */
export function encoded({ expression, nested }: Value): string {
  if (nested) return `IFNULL(${expression}, '~')`;
  const plain = plainValue(expression);
  if (plain !== undefined) return `IFNULL(CONCAT('${plain.sign}', ${plain.expression}, ';'), '~')`;
  return `IFNULL(CONCAT(LENGTH(${expression}), ':', ${expression}), '~')`;
}
