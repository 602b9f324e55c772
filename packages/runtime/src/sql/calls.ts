import { cast } from '../dialects/fragment.ts';
import type { SqlDialect } from '../dialects/index.ts';
import { invalidQuery } from '../errors.ts';
import { parseCall } from '../language/conditions/filter-syntax.ts';
import { type AggregateFunction, aggregateKind } from '../language/descriptors/aggregates.ts';
import {
  always,
  type Condition,
  type FieldDescriptor,
  type FieldFunction,
  type Operand,
  type WireForm,
} from '../language/index.ts';
import { functionFits, isFieldFunction, isMeasured } from '../language/types/index.ts';
import { cell, comparable } from './cell.ts';
import { printCount } from './lookups.ts';
import { type OperandType, operandType } from './operand.ts';
import type { Row } from './row.ts';
import type { CollectionScope, FieldScope, RelationScope, Scope } from './scope.ts';
import { printDistance } from './spatial.ts';

/** A function of a field, or the number of rows of a relation (API specification, section 5.3). */
export type Call =
  | { readonly kind: 'field'; readonly function: FieldFunction; readonly field: FieldScope }
  | { readonly kind: 'rows'; readonly relation: RelationScope }
  /** Distance of a geometry or a vector to the one that the filter of its rows looks near. */
  | { readonly kind: 'distance'; readonly field: FieldScope; readonly near: Operand };

/** A call that was looked up, by its response name. `unfit`: wrong type, or a distance without an origin. */
interface NamedCall {
  readonly key: string;
  readonly found: Call | 'hidden' | 'unfit';
}

/** Names stage of a call; undefined for no call. Hidden and unknown are one. `condition` filters the same rows. */
export function resolveCall(
  collection: CollectionScope,
  name: string,
  condition: Condition = always,
): NamedCall | undefined {
  const call = parseCall(name);
  if (call === undefined) return undefined;
  const field = collection.fields.get(call.argument);
  if (call.function === distance) {
    return { key: `${call.argument}_${distance}`, found: fitDistance(field, nearIn(condition, call.argument)) };
  }
  if (!isFieldFunction(call.function)) return undefined;
  const relation = collection.relations.get(call.argument);
  return { key: `${call.argument}_${call.function}`, found: fitCall(call.function, field, relation) };
}

function fitCall(
  name: FieldFunction,
  field: FieldScope | undefined,
  relation: RelationScope | undefined,
): NamedCall['found'] {
  const usable = field?.secret === true ? undefined : field;
  if (usable === undefined && relation === undefined) return 'hidden';
  const toMany = relation !== undefined && relation.descriptor.kind !== 'm2o';
  if (name === 'count' && toMany) return { kind: 'rows', relation };
  const fits = usable !== undefined && functionFits(name, usable.descriptor.type);
  return fits ? { kind: 'field', function: name, field: usable } : 'unfit';
}

const distance = 'distance';

function fitDistance(field: FieldScope | undefined, near: readonly Operand[]): NamedCall['found'] {
  if (field === undefined || field.secret) return 'hidden';
  const [only] = near;
  if (only === undefined || near.length > 1 || !isMeasured(field.descriptor.type)) return 'unfit';
  return { kind: 'distance', field, near: only };
}

/** Operands of `_near` on a field, in the conditions on the rows themselves. */
function nearIn(condition: Condition, field: string): readonly Operand[] {
  if (condition.kind === 'and' || condition.kind === 'or') return condition.of.flatMap((part) => nearIn(part, field));
  const isNear = condition.kind === 'compare' && condition.field === field && condition.operator === '_near';
  return isNear ? [condition.operand] : [];
}

/** The syntax stage of names: a call of something that is no function, unless some collection has it as a name. */
export function refuseUnknownFunctions(
  scope: Scope,
  paths: readonly (readonly string[])[],
  parameter: string,
  aliases?: ReadonlyMap<string, string>,
): void {
  for (const name of paths.flat()) {
    const call = parseCall(name);
    if (call === undefined || call.function === distance || isFieldFunction(call.function)) continue;
    if (!isName(scope, name) && aliases?.has(name) !== true) {
      throw invalidQuery(`"${parameter}" calls an unknown function in "${name}".`);
    }
  }
}

/** True if some readable collection has a field or relation of this name. */
export function isName(scope: Scope, name: string): boolean {
  for (const { fields, relations } of scope.collections.values())
    if (fields.has(name) || relations.has(name)) return true;
  return false;
}

/** A function of a cell, or the number of related rows; null where the caller cannot read the cell. */
export function printCall(row: Row, call: Call): string {
  if (call.kind === 'rows') return printCount(row, call.relation);
  if (call.kind === 'distance') return printDistance(row, call.field, call.near);
  return row.statement.dialect.field(call.function, cell(row, call.field), call.field.descriptor);
}

/** The cell of a field as aggregates take it: null where the caller cannot read it, which they pass over. */
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
  if (type === 'json' || type === 'composite') return cast(cell(row, field), dialect.asText);
  return dialect.grouped(comparable(row, field), field.descriptor);
}

/** Type as which the result of an aggregate function is compared. */
export function aggregateOperand(name: AggregateFunction, field: FieldDescriptor | null): OperandType {
  if (aggregateKind(name) === 'count' || field === null) return { type: 'bigInteger', native: 'int8' };
  if (name === 'min' || name === 'max') return operandType(field);
  if (field.type === 'float') return { type: 'float', native: 'float8' };
  // An average has more digits behind the point than its column.
  const isAlike = field.type === 'decimal' && aggregateKind(name) !== 'avg';
  return { type: 'decimal', native: isAlike ? field.native : 'numeric' };
}

/**
 * Form of a function's result on a field (API specification, section 5.5). Counts are integers, and averages of
 * integers are numbers. Sums and averages of decimal and bigInteger are strings with every digit. All else is as the
 * column.
 */
export function aggregateWire(dialect: SqlDialect, name: AggregateFunction, field: FieldDescriptor | null): WireForm {
  const number: WireForm = { kind: 'number', cast: dialect.asText };
  if (aggregateKind(name) === 'count' || field === null) return number;
  if (name === 'min' || name === 'max') return field.wire;
  if (field.type === 'float') return number;
  if (field.type !== 'integer') return { kind: 'text', cast: dialect.asText };
  return aggregateKind(name) === 'sum' ? number : dialect.average;
}
