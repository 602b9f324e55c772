/**
 * Columns of answers that need not be spelled by MySQL and MariaDB, which takes them longer than finding the rows: the
 * binary protocol has integers and times as numbers, and the lane spells these. Within a record everything is one text.
 */
import { spelledColumns } from '../../database/mysql/spelled.ts';

const column = '(t\\d+\\."(?:[^"]|"")*")';

/** As the compiler has integers spelled. */
const integer = new RegExp(`^CAST\\(${column} AS CHAR\\(20\\)\\)$`);

/** As the compiler has times spelled: with fractions or without, with a zone or without. */
const time = new RegExp(
  `^(CONCAT\\()?(?:TRIM\\(TRAILING '\\.' FROM TRIM\\(TRAILING '0' FROM )?DATE_FORMAT\\(${column}, '%Y-%m-%dT%H:%i:%s(?:\\.%f)?'\\)(?:\\)\\))?(?:, '\\+00:00'\\))?$`,
);

/** Numbers that functions of groups come to. */
const counted = /^CAST\((COUNT\([^()]*\)) AS CHAR\)$/;
const computed = /^CAST\((?:COUNT|SUM|AVG)\([^()]*\) AS CHAR\)$/;

/**
 * Whether the text that an expression comes to holds digits, points, signs and letters only. Within a record such a value
 * ends at a mark, so that the server computes it once; of others it has to tell the length.
 */
export function isPlainText(expression: string): boolean {
  return integer.test(expression) || time.test(expression) || computed.test(expression);
}

/** The column itself, or a count, under the name that tells the lane how it is spelled; undefined for any other expression. */
export function unspelled(expression: string): string | undefined {
  const [, whole] = integer.exec(expression) ?? counted.exec(expression) ?? [];
  if (whole !== undefined) return `${whole} AS "${spelledColumns.integer}"`;
  const [, zoned, moment] = time.exec(expression) ?? [];
  if (moment === undefined) return undefined;
  return `${moment} AS "${zoned === undefined ? spelledColumns.dateTime : spelledColumns.instant}"`;
}
