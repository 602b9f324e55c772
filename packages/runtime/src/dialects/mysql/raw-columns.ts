/**
 * Columns of answers that MySQL and MariaDB need not format, which takes them longer than finding the rows. The binary
 * protocol has integers and times as numbers, and the driver formats these. Within a record everything is one text.
 */
import { type PlainSign, plainSigns } from './rows/nested.ts';
import { rawColumns } from './rows/spelled.ts';

const column = '(t\\d+\\."(?:[^"]|"")*")';

/** As the compiler has integers spelled. */
const integer = new RegExp(`^CAST\\(${column} AS CHAR\\(20\\)\\)$`);

/** As the compiler has times spelled: with fractions or without, with a zone or without. */
const time = new RegExp(
  `^(CONCAT\\()?(?:TRIM\\(TRAILING '\\.' FROM TRIM\\(TRAILING '0' FROM )?DATE_FORMAT\\(${column}, '%Y-%m-%dT%H:%i:%s(?:\\.%f)?'\\)(?:\\)\\))?(?:, '\\+00:00'\\))?$`,
);

const bare = new RegExp(`^${column}$`);

/** Numbers that functions of groups come to. */
const counted = /^CAST\((COUNT\([^()]*\)) AS CHAR\)$/;
const computed = /^CAST\((?:COUNT|SUM|AVG)\([^()]*\) AS CHAR\)$/;

/** True if an expression is a column as it is. */
export function isColumn(expression: string): boolean {
  return bare.test(expression);
}

/** A value within a record whose text ends at a mark, and the sign in front that says what the text is. */
interface PlainValue {
  readonly sign: PlainSign;
  readonly expression: string;
}

/**
 * The value of an expression whose text holds digits, points, signs and letters only; undefined for any other
 * expression. Such a text ends at a mark, so that the server computes it once; for other texts it has to print the
 * length. A column of integers or times stands for itself, and the server writes it as it likes best.
 */
export function plainValue(expression: string): PlainValue | undefined {
  const [, whole] = integer.exec(expression) ?? [];
  if (whole !== undefined) return { sign: plainSigns.as, expression: whole };
  const [, zoned, moment] = time.exec(expression) ?? [];
  if (moment !== undefined) {
    return { sign: zoned === undefined ? plainSigns.dateTime : plainSigns.instant, expression: moment };
  }
  return computed.test(expression) ? { sign: plainSigns.as, expression } : undefined;
}

/** The column itself, or a count, under the name that tells the lane how it is spelled; undefined for any other expression. */
export function rawColumn(expression: string): string | undefined {
  const [, whole] = integer.exec(expression) ?? counted.exec(expression) ?? [];
  if (whole !== undefined) return `${whole} AS "${rawColumns.integer}"`;
  const [, zoned, moment] = time.exec(expression) ?? [];
  if (moment === undefined) return undefined;
  return `${moment} AS "${zoned === undefined ? rawColumns.dateTime : rawColumns.instant}"`;
}
