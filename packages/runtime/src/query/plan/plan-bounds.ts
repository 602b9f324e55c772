import type { StatementBuilder } from '../../sql/row.ts';
import type { Bounds } from '../parse/request.ts';

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

/** Number of all rows up to the end of a list, `least` at least; nothing where the list has no end. Values as above. */
export function printReach(statement: StatementBuilder, bounds: Bounds, index: number, least: number): string {
  const { limit, offset, beyond = 0 } = bounds;
  if (limit === -1) return '';
  const common = commonLimits.has(limit);
  if (common && offset === 0) return String(Math.max(least, limit + beyond));
  const parameter = (position: number) =>
    statement.parameter({ kind: 'value', index: position }, statement.dialect.boundType);
  const size = common ? [String(limit + beyond)] : [parameter(index)];
  const skipped = offset > 0 ? [parameter(common ? index : index + 1)] : [];
  return `GREATEST(${least}, ${[...size, ...skipped].join(' + ')})`;
}

/** The values that `printBounds` leaves open, in its order. */
export function boundValues({ limit, offset, beyond = 0 }: Bounds): readonly string[] {
  const size = limit === -1 || commonLimits.has(limit) ? [] : [String(limit + beyond)];
  return offset > 0 ? [...size, String(offset)] : size;
}

/** Limits that are written into a statement, as the database plans better then; others are parameters. */
export const commonLimits: ReadonlySet<number> = new Set([0, 1, 2, 3, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000]);
