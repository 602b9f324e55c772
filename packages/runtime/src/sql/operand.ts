import { arrayNative, hasParts, type KeyField, wholeType } from '../dialects/fragment.ts';
import { jsonKind, jsonTypes } from '../language/conditions/filter-json.ts';
import {
  arrayLiteral,
  type CallerOperand,
  type Condition,
  decodeValue,
  type FieldDescriptor,
  type FieldFunction,
  type JsonValue,
  literalValue,
  type Operand,
  type Operator,
  type ValueType,
} from '../language/index.ts';
import { definitions, elementwise, listed, matching, paired, ranged } from '../language/operators/index.ts';
import { decimalDigits } from '../language/types/decimal.ts';
import type { Attribute } from '../language/types/definition.ts';
import { attributeType, elementOf, rangeElement } from '../language/values/values.ts';
import type { StatementBuilder } from './row.ts';

/** Type that an operand is compared with: how its values are written, and the type of its parameter. */
export interface OperandType extends ValueType {
  readonly native: string;
  /** SQL that brings a value into the character set of the column that it stands beside. */
  readonly collated?: string;
}

/** Facts that decide how the values of a field are written. */
type TypedValue = Pick<
  FieldDescriptor,
  'type' | 'native' | 'values' | 'element' | 'geometry' | 'vector' | 'attributes'
> &
  Pick<ValueType, 'wire'>;

/** The operand type of a field or an argument, or of a function on it. */
export function operandType(field: TypedValue, call?: FieldFunction): OperandType {
  if (call !== undefined) return { type: 'integer', native: call === 'count' ? 'int8' : 'int4' };
  // A number beyond smallint is a number all the same: it matches nothing and must not fail in the database.
  const { type, values, element, geometry, vector, attributes, wire } = field;
  const native = /^(?:pg_catalog\.)?(?:int2|smallint)$/.test(field.native) ? 'int4' : field.native;
  return {
    type,
    native,
    ...(wire && { wire }),
    ...(values && { values }),
    ...(element && { element }),
    ...(geometry && { geometry }),
    ...(vector && { vector }),
    ...(attributes && { attributes }),
  };
}

/**
 * Form of a column of input with values of a key. Arrays in an array would be its dimensions, and composites in one
 * its columns, so these go as their texts and each is cast.
 */
export function listedForm(field: TypedValue & KeyField): { readonly native: string; readonly cast?: string } {
  return hasParts(field)
    ? { native: 'pg_catalog.text', cast: wholeType(field) }
    : { native: operandType(field).native };
}

export function keyType(field: TypedValue & KeyField): OperandType {
  return operandType(hasParts(field) ? { ...field, native: wholeType(field) } : field);
}

/** The type of a path into JSON: a list of texts. */
export const pathType: OperandType = { type: 'array', element: 'text', native: 'pg_catalog.text[]' };

/** Type that a comparison of a field compares with: that of the field, of its elements, or of a value within JSON. */
export function comparedType(
  field: FieldDescriptor,
  { function: call, path, operator, operand }: Extract<Condition, { kind: 'compare' }>,
): OperandType {
  if (call !== undefined) return operandType(field, call);
  if (path?.members) return memberType(field, path);
  const elements = elementwise.has(operator);
  if (field.type === 'json') return elements && operand.kind === 'literal' ? jsonList : jsonTypes[jsonKind(operand)];
  const range = elements || ranged.has(operator) ? rangeElement(field.range) : undefined;
  if (range !== undefined) return ranged.has(operator) ? listType(range) : range;
  const type = operandType(field.type === 'array' ? { ...field, native: arrayNative(field) } : field);
  const element = elements && operand.kind !== 'literal' ? elementOf(type) : undefined;
  return element === undefined ? type : { ...element, native: element.native ?? 'text' };
}

/** The type of a member that a path leads to; a number beyond smallint is a number all the same. */
function memberType(field: FieldDescriptor, path: NonNullable<Extract<Condition, { kind: 'compare' }>['path']>) {
  const found = memberAt(field, path);
  if (found === undefined) return operandType(field);
  const type = attributeType(found);
  return type.native === 'int2' ? { ...type, native: 'int4' } : type;
}

export function memberAt(
  { attributes }: Pick<FieldDescriptor, 'attributes'>,
  { value }: NonNullable<Extract<Condition, { kind: 'compare' }>['path']>,
): Attribute | undefined {
  let found: Attribute | undefined;
  for (const name of Array.isArray(value) ? value : []) {
    const among: readonly Attribute[] = (found === undefined ? attributes : found.attributes) ?? [];
    found = among.find((attribute) => attribute.name === name);
    if (found === undefined) return undefined;
  }
  return found;
}

const jsonList: OperandType = { type: 'json', native: 'jsonb' };

function listType({ type, native }: OperandType): OperandType {
  return { type: 'array', element: type, native: `${native}[]` };
}

/** The type of a comparison with the number of rows of a relation. */
export const countType: OperandType = { type: 'integer', native: 'int8' };

function encodeOne(type: ValueType, value: JsonValue): string {
  const decoded = decodeValue(type, value);
  if (!decoded.ok || decoded.value === null) throw new Error('a value was planned that had not been checked');
  return decoded.value;
}

/** Parameters of an operand as texts: one, two for `_between`, none for the caller's. It has passed `parseFilter`. */
export function encodeOperand(type: ValueType, operator: Operator, operand: Operand): readonly string[] {
  if (operand.kind === 'caller') return [];
  if (operand.kind === 'now') return [operand.offset];
  const value = literalValue(operand);
  // The shape was decoded when it was read, and a distance may stand after it.
  if (type.type === 'geometry' && Array.isArray(value)) return value.map(String);
  // The metric of a vector, which stands between the two, decides the form of the statement.
  if (type.type === 'vector' && Array.isArray(value))
    return value.filter((_: JsonValue, index) => index !== 1).map(String);
  if (ranged.has(operator) && Array.isArray(value)) {
    const element = elementOf(type) ?? type;
    return [arrayLiteral(value.map((end: JsonValue) => (end === null ? null : encodeOne(element, end))))];
  }
  // Single elements too are looked for as a list of one.
  if (elementwise.has(operator) && (type.type === 'array' || type.type === 'json')) {
    return [encodeOne(type, Array.isArray(value) && listed.has(operator) ? value : [value])];
  }
  // Elsewhere an array is one value: the output form of a csv field.
  if (Array.isArray(value) && listed.has(operator)) {
    const values = value.map((element: JsonValue) => encodeOne(type, element));
    return paired.has(operator) ? values : [arrayLiteral(values.filter((text) => !isCut(type, text)))];
  }
  return [printPattern(operator, encodeOne(type, value))];
}

/** True if lists would cut digits of a decimal, which no value of the column beside them has. */
export function isCut({ native }: ValueType, text: string): boolean {
  const [, places] = /^numeric\(\d+,(\d+)\)$/.exec(native ?? '') ?? [];
  return places !== undefined && decimalDigits(text).fraction.length > Number(places);
}

/** The parameter of an operand that is one text, as `encodeOperand` encodes it; undefined when it is no value of the type. */
export function encodeText(type: ValueType, operator: Operator, text: string): string | undefined {
  const decoded = decodeValue(type, text);
  return decoded.ok && decoded.value !== null ? printPattern(operator, decoded.value) : undefined;
}

function printPattern(operator: Operator, text: string): string {
  const print = definitions[operator].pattern;
  return print === undefined ? text : print(text.replace(/[\\%_]/g, '\\$&'));
}

/** The parameter that holds a value of the caller; null when it is missing or cannot be of the type. */
export function callerParameter(statement: StatementBuilder, subject: 'user' | 'role', type: OperandType): string {
  return statement.parameter({ kind: 'caller', of: subject, type }, type.native);
}

/** Prints the values of an operand as expressions of its type, in the order of `encodeOperand`. */
export function printOperand(
  statement: StatementBuilder,
  type: OperandType,
  operator: Operator,
  operand: Exclude<Operand, CallerOperand>,
): readonly string[] {
  const native = parameterType(type, operator, operand);
  const first = statement.open.get(operand);
  const printed = encodeOperand(type, operator, operand).map((value, index) =>
    statement.parameter(
      first === undefined ? { kind: 'fixed', value } : { kind: 'value', index: first + index },
      native,
    ),
  );
  return operand.kind === 'now' ? printed.map((offset) => statement.now(offset, type.type, type.native)) : printed;
}

/** Prints an operand that is one value, the caller's own key included. */
export function printValue(
  statement: StatementBuilder,
  type: OperandType,
  operator: Operator,
  operand: Operand,
): string {
  if (operand.kind === 'caller') return callerParameter(statement, operand.of, type);
  return printOperand(statement, type, operator, operand)[0] ?? 'NULL';
}

function parameterType(type: OperandType, operator: Operator, operand: Operand): string {
  if (operand.kind === 'now') return 'pg_catalog.interval';
  if (matching.has(operator)) return 'pg_catalog.text';
  const list = operand.kind === 'literal' && Array.isArray(literalValue(operand));
  return list && (operator === '_in' || operator === '_nin') ? `${type.native}[]` : type.native;
}
