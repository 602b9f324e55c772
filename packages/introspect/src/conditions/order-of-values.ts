import type { ColumnFacts } from './column-facts.ts';

/**
 * Compares two values of a column in text form, as the database does: negative, 0 or positive. Undefined where only the
 * database knows, so that nothing is concluded from it.
 */
export function compareValues({ type, exact }: ColumnFacts, left: string, right: string): number | undefined {
  if (left === right) return 0;
  switch (type.type) {
    case 'integer':
    case 'bigInteger':
      return compare(BigInt(left), BigInt(right));
    case 'decimal':
      return compareRounded(Number(left), Number(right));
    case 'float':
      return compareFloats(Number(left), Number(right));
    case 'date':
      return compareMoments(left, right, /^\d{4}-\d\d-\d\d$/, 'T00:00:00Z');
    case 'dateTime':
      return compareMoments(left, right, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?$/, 'Z');
    case 'timestamp':
      return compareMoments(left, right, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d:\d\d$/, '');
    default:
      return exact ? compare(left, right) : undefined;
  }
}

function compare<Value>(left: Value, right: Value): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Rounding keeps the order of numbers but makes some of them equal. */
function compareRounded(left: number, right: number): number | undefined {
  return left === right || Number.isNaN(left) || Number.isNaN(right) ? undefined : compare(left, right);
}

/** A float of four bytes has at least six digits, of which the sixth may be rounded. */
function compareFloats(left: number, right: number): number | undefined {
  const near = Math.abs(left - right) <= 1e-5 * Math.max(Math.abs(left), Math.abs(right));
  return near ? undefined : compareRounded(left, right);
}

/** Milliseconds are the truth rounded down, so what differs by one differs. */
function compareMoments(left: string, right: string, form: RegExp, zone: string): number | undefined {
  if (!form.test(left) || !form.test(right)) return undefined;
  const [leftTime, other] = [left, right].map((text) => Date.parse(text.replace(' ', 'T') + zone));
  return leftTime === undefined || other === undefined ? undefined : compareRounded(leftTime, other);
}
