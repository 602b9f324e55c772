import type { StatementBuilder } from '../sql/statement.ts';
import { commonLimits } from './shape.ts';

/** Rows of a list at most, -1 for all of them, and rows that it skips. */
export interface Bounds {
  readonly limit: number;
  readonly offset: number;
  /** Rows to read beyond the limit, which only tell that there are more. Default 0. */
  readonly beyond?: number;
}

/** LIMIT and OFFSET with a leading space; their values, as `boundValues` gives them, stand at `index`. */
export function printBounds(statement: StatementBuilder, bounds: Bounds, index: number): string {
  const { limit, offset, beyond = 0 } = bounds;
  const common = commonLimits.has(limit);
  const parameter = (offset: number) =>
    statement.parameter({ kind: 'value', index: offset }, statement.dialect.boundType);
  const none = offset > 0 ? statement.dialect.noLimit : '';
  const size = limit === -1 ? none : ` LIMIT ${common ? limit + beyond : parameter(index)}`;
  const skipped = limit === -1 || common ? index : index + 1;
  return offset > 0 ? `${size} OFFSET ${parameter(skipped)}` : size;
}

/** The values that `printBounds` leaves open, in its order. */
export function boundValues({ limit, offset, beyond = 0 }: Bounds): readonly string[] {
  const size = limit === -1 || commonLimits.has(limit) ? [] : [String(limit + beyond)];
  return offset > 0 ? [...size, String(offset)] : size;
}
