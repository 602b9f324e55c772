import { cast } from '../dialects/fragment.ts';
import type { SqlDialect } from '../dialects/index.ts';
import { type AggregateFunction, aggregateKind } from '../language/descriptors/aggregates.ts';
import type { FieldDescriptor, WireForm } from '../language/index.ts';
import { cell, comparable } from './cell.ts';
import { type OperandType, operandType } from './operand.ts';
import type { Row } from './row.ts';
import type { FieldScope } from './scope.ts';

/**
 * The cell of a field as an aggregate function takes it. A cell that the caller cannot read is null there, as everywhere,
 * and every function passes over null.
 */
export function aggregated(row: Row, name: AggregateFunction, field: FieldScope): string {
  if (name === 'count') return cell(row, field);
  if (name === 'countDistinct') return groupable(row, field);
  // Some servers convert twice what MIN and MAX are given converted, so texts keep their character set until the end.
  return field.descriptor.collated === undefined ? comparable(row, field) : cell(row, field);
}

/** The cell of a field as grouping compares it: types that know no equality are compared by their text. */
export function groupable(row: Row, field: FieldScope): string {
  const { type, element, native } = field.descriptor;
  const { dialect } = row.statement;
  if (type === 'array') return cast(cell(row, field), element === 'json' ? '::pg_catalog.text[]' : `::${native}`);
  if (type === 'json') return cast(cell(row, field), dialect.asText);
  return dialect.grouped(comparable(row, field), field.descriptor);
}

/** Type as which the result of an aggregate function is compared. */
export function aggregateOperand(name: AggregateFunction, field: FieldDescriptor | null): OperandType {
  if (aggregateKind(name) === 'count' || field === null) return { type: 'bigInteger', native: 'int8' };
  if (name === 'min' || name === 'max') return operandType(field);
  return field.type === 'float' ? { type: 'float', native: 'float8' } : { type: 'decimal', native: 'numeric' };
}

/**
 * Form of the result of a function on a field (API specification, section 5.5). Counts are integers, and averages of
 * integers are numbers. Sums and averages of decimal and bigInteger are strings with every digit. Everything else is as
 * the column.
 */
export function aggregateWire(dialect: SqlDialect, name: AggregateFunction, field: FieldDescriptor | null): WireForm {
  const number: WireForm = { kind: 'number', cast: dialect.asText };
  if (aggregateKind(name) === 'count' || field === null) return number;
  if (name === 'min' || name === 'max') return field.wire;
  if (field.type === 'float') return number;
  if (field.type !== 'integer') return { kind: 'text', cast: dialect.asText };
  return aggregateKind(name) === 'sum' ? number : dialect.average;
}
