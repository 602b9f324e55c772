import { types } from '@tablewright/runtime/language';
import type { ColumnFacts } from './column-facts.ts';

/**
 * Compares two values of a column in text form, as the database does: negative, 0 or positive. Undefined where only the
 * database knows, so that nothing is concluded from it.
 */
export function compareValues({ type, exact }: ColumnFacts, left: string, right: string): number | undefined {
  if (left === right) return 0;
  const { order } = types[type.type];
  if (order !== undefined) return order(left, right);
  if (!exact) return undefined;
  return left < right ? -1 : 1;
}
