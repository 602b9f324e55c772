import { type AggregateFunction, aggregateKind } from '../contract/aggregates.ts';
import type { FieldDescriptor, WireForm } from '../contract/index.ts';
import type { FieldScope } from '../query/scope.ts';
import { cast, cell, comparable } from './cell.ts';
import { type OperandType, operandType } from './operand.ts';
import type { Row } from './row.ts';

/** The call of an aggregate function; without an argument it counts rows. */
export function printAggregate(name: AggregateFunction, argument: string | null): string {
  const distinct = name.endsWith('Distinct') ? 'DISTINCT ' : '';
  return `pg_catalog.${aggregateKind(name)}(${distinct}${argument ?? '*'})`;
}

/**
 * The cell of a field as an aggregate function takes it. A cell that the caller cannot read is null there, as everywhere,
 * and every function passes over null.
 */
export function aggregated(row: Row, name: AggregateFunction, field: FieldScope): string {
  if (name === 'count') return cell(row, field);
  return name === 'countDistinct' ? groupable(row, field) : comparable(row, field);
}

/** The cell of a field as grouping compares it: types that know no equality are compared by their text. */
export function groupable(row: Row, field: FieldScope): string {
  const { type, element, native } = field.descriptor;
  if (type === 'array') return cast(cell(row, field), element === 'json' ? '::pg_catalog.text[]' : `::${native}`);
  if (type === 'json') return cast(cell(row, field), '::pg_catalog.text');
  return comparable(row, field);
}

/** What the result of an aggregate function is compared with, and how it arrives. */
export interface AggregateResult {
  readonly operand: OperandType;
  readonly wire: WireForm;
}

const count: AggregateResult = {
  operand: { type: 'bigInteger', native: 'int8' },
  wire: { kind: 'number', cast: '::pg_catalog.text' },
};

/**
 * The result of a function on a field (API specification, section 5.5): counts are integers, sums and averages of decimal
 * and bigInteger are strings with every digit, averages of integers are numbers, everything else is as the column.
 */
export function aggregateResult(name: AggregateFunction, field: FieldDescriptor | null): AggregateResult {
  if (aggregateKind(name) === 'count' || field === null) return count;
  if (name === 'min' || name === 'max') return { operand: operandType(field), wire: field.wire };
  if (field.type === 'float') return { operand: { type: 'float', native: 'float8' }, wire: count.wire };
  const operand: OperandType = { type: 'decimal', native: 'numeric' };
  if (field.type !== 'integer') return { operand, wire: { kind: 'text', cast: '::pg_catalog.text' } };
  return aggregateKind(name) === 'sum'
    ? { operand, wire: count.wire }
    : { operand, wire: { kind: 'number', cast: '::float8::pg_catalog.text' } };
}
