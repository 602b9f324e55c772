import { allOf, cast, castStored } from '../dialects/fragment.ts';
import type { JsonValue, Operand, Operator } from '../language/index.ts';
import { vectorMetrics } from '../language/types/definition.ts';
import { comparable } from './cell.ts';
import { encodeOperand, operandType, printOperand } from './operand.ts';
import type { Row } from './row.ts';
import type { FieldScope } from './scope.ts';

/** Prints an operator of geometries. Both sides are geometries of the column's form, so an index of it serves. */
export function printSpatial(row: Row, field: FieldScope, operator: Operator, operand: Operand): string {
  const { statement } = row;
  const { descriptor } = field;
  const { geometry: form } = descriptor;
  if (form === undefined || operand.kind === 'caller') return statement.dialect.nothing('pg_catalog.bool');
  const [shape = 'NULL', distance, box] = printOperand(statement, operandType(descriptor), operator, operand);
  const sides = [comparable(row, field), castStored(shape, descriptor)] as const;
  if (distance !== undefined) {
    const [from, to] = sides.map((side) => cast(side, form.measured));
    const near = statement.dialect.spatial.near(form, from ?? '', to ?? '', distance);
    if (box === undefined) return near;
    return allOf([statement.dialect.spatial.boxes(form, sides[0], castStored(box, descriptor)), near]);
  }
  const boxed = operator.endsWith('_bbox');
  const [left, right] = boxed ? sides.map((side) => cast(side, form.boxed)) : sides;
  const kind = boxed ? 'boxes' : operator.endsWith('within') ? 'within' : 'intersects';
  const predicate = statement.dialect.spatial[kind](form, left ?? '', right ?? '');
  return operator.startsWith('_n') ? `(NOT ${predicate})` : predicate;
}

/** Prints a `_near` of vectors; without a distance it finds every row that has one. */
export function printNeighbour(row: Row, field: FieldScope, operator: Operator, operand: Operand): string {
  const { statement } = row;
  if (operand.kind === 'caller') return statement.dialect.nothing('pg_catalog.bool');
  const [, metric, within] = partsOf(operand);
  if (within === undefined) return `(${comparable(row, field)} IS NOT NULL)`;
  const [shape = 'NULL', distance = '0'] = printOperand(statement, operandType(field.descriptor), operator, operand);
  return statement.dialect.vectors.within(printMeasure(row, field, shape, metric), distance);
}

/** Distance of a field to what a `_near` names; null where the caller cannot read the field. */
export function printDistance(row: Row, field: FieldScope, near: Operand): string {
  const { statement } = row;
  const { descriptor } = field;
  const index = statement.open.get(near);
  const [value = ''] = encodeOperand(operandType(descriptor), '_near', near);
  const input = index === undefined ? ({ kind: 'fixed', value } as const) : ({ kind: 'value', index } as const);
  const shape = statement.parameter(input, descriptor.native);
  if (descriptor.type === 'vector') return printMeasure(row, field, shape, partsOf(near)[1]);
  const { geometry: form } = descriptor;
  const sides = [comparable(row, field), castStored(shape, descriptor)];
  const [from = '', to = ''] = sides.map((side) => cast(side, form?.measured));
  return statement.dialect.spatial.distance(form ?? { form: 'plane' }, from, to);
}

function printMeasure(row: Row, field: FieldScope, shape: string, metric: JsonValue | undefined): string {
  const { descriptor } = field;
  const form = descriptor.vector ?? { metric: 'cosine' };
  const measure = vectorMetrics.find((name) => name === metric) ?? form.metric;
  return row.statement.dialect.vectors.distance(form, measure, comparable(row, field), castStored(shape, descriptor));
}

function partsOf(operand: Operand): readonly JsonValue[] {
  return operand.kind === 'literal' && Array.isArray(operand.value) ? operand.value : [];
}
