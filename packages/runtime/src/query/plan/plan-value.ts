import { allOf, cast } from '../../dialects/fragment.ts';
import type { Value } from '../../dialects/index.ts';
import type { Shape, ShapeField } from '../../json/shape.ts';
import type { FieldDescriptor, RelationDescriptor } from '../../language/index.ts';
import { type Call, printCall } from '../../sql/calls.ts';
import { cell, fieldOfColumn, guarded } from '../../sql/cell.ts';
import { bracketed } from '../../sql/comparison.ts';
import type { Row } from '../../sql/row.ts';
import type { FieldScope } from '../../sql/scope.ts';

/** The values that a record is made of, of which those at some places are never null; a constant has none. */
export function valuesOf(
  expressions: readonly string[],
  fields: readonly ShapeField[],
  present?: ReadonlySet<number>,
): readonly Value[] {
  const shapes = fields.map(({ shape }) => shape).filter(({ kind }) => kind !== 'constant');
  return expressions.map((expression, index) => ({
    expression,
    nested: isNested(shapes[index]),
    present: present?.has(index) === true,
  }));
}

/** True if a value is a record or a list. */
export function isNested(shape: Shape | undefined): boolean {
  return shape !== undefined && shape.kind !== 'scalar';
}

/** An expression of the select list, and what its bytes become. */
export interface Printed {
  readonly expression: string;
  readonly shape: Shape;
}

/** One element of a list while it is printed, and the shape of the list. */
export interface PrintedElement {
  readonly element: Value;
  readonly shape: Shape;
  /** Columns of an element that is a record, if a list may be made of each of them. */
  readonly columns?: readonly string[];
}

/** True if records may be sent as lists of their columns: there are two at least, and none of them is a list itself. */
export function isColumnar(fields: readonly ShapeField[]): boolean {
  const shapes = fields.map(({ shape }) => shape.kind).filter((kind) => kind !== 'constant');
  return shapes.length > 1 && shapes.every((kind) => kind === 'scalar' || kind === 'record' || kind === 'first');
}

/** A function: a small number, or a length, whose text reads as a number however large it is. */
export function printFunctionPart(row: Row, call: Call): Printed {
  const expression = printCall(row, call);
  const { asText, datePart } = row.statement.dialect;
  if (call.kind === 'field' && call.function !== 'count')
    return { expression: cast(expression, datePart.cast), shape: { kind: 'scalar', wire: datePart.kind } };
  return { expression: cast(expression, asText), shape: { kind: 'scalar', wire: 'number' } };
}

/** A secret never leaves the database: only whether there is one. */
export function printField(row: Row, field: FieldScope): Printed {
  const { wire } = field.descriptor;
  const value = cell(row, field);
  if (field.secret || wire.kind === 'masked') {
    return {
      expression: `CASE WHEN ${bracketed(value)} IS NOT NULL THEN TRUE END`,
      shape: { kind: 'scalar', wire: 'masked' },
    };
  }
  return { expression: cast(value, wire.cast), shape: shapeOf(field.descriptor) };
}

function shapeOf({ wire }: FieldDescriptor): Shape {
  return wire.array === true ? { kind: 'array', element: wire.kind } : { kind: 'scalar', wire: wire.kind };
}

/** The key that an m2o of several columns holds: an object of the target's key fields, or null. */
export function printOwnKey(row: Row, relation: Extract<RelationDescriptor, { kind: 'm2o' }>): Printed {
  const { dialect } = row.statement;
  const ownFields = row.collection.descriptor.fields;
  const target = row.scope.collections.get(relation.target)?.descriptor.fields ?? [];
  const columns = relation.on.map(({ from }) => row.column(from));
  const wires = relation.on.map(({ from, to }) => fieldOfColumn(ownFields, from) ?? fieldOfColumn(target, to));
  const values = columns.map((column, index) => {
    const wire = wires[index]?.wire;
    return cast(column, wire === undefined ? dialect.asText : wire.cast);
  });
  const fields = relation.on.map(({ from, to }, index): ShapeField => {
    const descriptor = wires[index];
    const key = fieldOfColumn(target, to)?.name ?? fieldOfColumn(ownFields, from)?.name ?? to;
    return { key, shape: descriptor === undefined ? { kind: 'scalar', wire: 'text' } : shapeOf(descriptor) };
  });
  const present = allOf(columns.map((column) => `${column} IS NOT NULL`));
  return { expression: guarded(present, dialect.record(valuesOf(values, fields))), shape: { kind: 'record', fields } };
}
