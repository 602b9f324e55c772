import type { StatementBuilder } from '../sql/statement.ts';
import { commonLimits } from './shape.ts';

/** Rows of a list at most, -1 for all of them, and rows that it skips. */
export interface Bounds {
  readonly limit: number;
  readonly offset: number;
}

/** LIMIT and OFFSET with a leading space; their values, as `boundValues` gives them, stand at `index`. */
export function printBounds(statement: StatementBuilder, { limit, offset }: Bounds, index: number): string {
  const common = commonLimits.has(limit);
  const parameter = (at: number) => statement.parameter({ kind: 'value', index: at }, 'pg_catalog.int8');
  const size = limit === -1 ? '' : ` LIMIT ${common ? limit : parameter(index)}`;
  const skipped = limit === -1 || common ? index : index + 1;
  return offset > 0 ? `${size} OFFSET ${parameter(skipped)}` : size;
}

/** The values that `printBounds` leaves open, in its order. */
export function boundValues(limit: number, offset: number): readonly string[] {
  const size = limit === -1 || commonLimits.has(limit) ? [] : [String(limit)];
  return offset > 0 ? [...size, String(offset)] : size;
}
