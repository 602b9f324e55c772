import type { Call } from './calls.ts';
import { cell } from './cell.ts';
import { printCount } from './lookups.ts';
import type { Row } from './row.ts';
import { printDistance } from './spatial.ts';

/** A function of a cell, or the number of related rows; null where the caller cannot read the cell. */
export function printCall(row: Row, call: Call): string {
  if (call.kind === 'rows') return printCount(row, call.relation);
  if (call.kind === 'distance') return printDistance(row, call.field, call.near);
  return row.statement.dialect.field(call.function, cell(row, call.field), call.field.descriptor);
}
