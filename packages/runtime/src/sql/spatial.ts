import { cast, castStored } from '../dialects/casts.ts';
import type { Operand, Operator } from '../language/index.ts';
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
  const [shape = 'NULL', distance] = printOperand(statement, operandType(descriptor), operator, operand);
  const sides = [comparable(row, field), castStored(shape, descriptor)] as const;
  if (distance !== undefined) {
    const [from, to] = sides.map((side) => cast(side, form.measured));
    return statement.dialect.spatial.near(form, from ?? '', to ?? '', distance);
  }
  const boxed = operator.endsWith('_bbox');
  const [left, right] = boxed ? sides.map((side) => cast(side, form.boxed)) : sides;
  const kind = boxed ? 'boxes' : operator.endsWith('within') ? 'within' : 'intersects';
  const predicate = statement.dialect.spatial[kind](form, left ?? '', right ?? '');
  return operator.startsWith('_n') ? `(NOT ${predicate})` : predicate;
}

/** How far a geometry is from the one that a `_near` names; null where the caller cannot read the geometry. */
export function printDistance(row: Row, field: FieldScope, near: Operand): string {
  const { statement } = row;
  const { descriptor } = field;
  const { geometry: form } = descriptor;
  const index = statement.open.get(near);
  const [value = ''] = encodeOperand(operandType(descriptor), '_near', near);
  const input = index === undefined ? ({ kind: 'fixed', value } as const) : ({ kind: 'value', index } as const);
  const shape = castStored(statement.parameter(input, descriptor.native), descriptor);
  const [from = '', to = ''] = [comparable(row, field), shape].map((side) => cast(side, form?.measured));
  return statement.dialect.spatial.distance(form ?? { form: 'plane' }, from, to);
}
