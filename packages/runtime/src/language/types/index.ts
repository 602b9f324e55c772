/** The portable types: the types that a caller sees, regardless of their names in the database. */
import { array } from './array.ts';
import { binary } from './binary.ts';
import { boolean } from './boolean.ts';
import { csv } from './csv.ts';
import { date } from './date.ts';
import { dateTime } from './date-time.ts';
import { decimal } from './decimal.ts';
import { type FieldFunction, fieldFunctions, type TypeDefinition } from './definition.ts';
import { enumeration } from './enum.ts';
import { float } from './float.ts';
import { geometry } from './geometry.ts';
import { bigInteger, integer, unsignedInteger } from './integer.ts';
import { interval } from './interval.ts';
import { composite, json } from './json.ts';
import { hash, secret, token } from './secret.ts';
import { string, text } from './string.ts';
import { time } from './time.ts';
import { timestamp } from './timestamp.ts';
import { unknown } from './unknown.ts';
import { uuid } from './uuid.ts';
import { vector } from './vector.ts';

/** Name of a portable type. */
export type PortableType =
  | 'string'
  | 'text'
  | 'enum'
  | 'integer'
  | 'bigInteger'
  | 'decimal'
  | 'float'
  | 'boolean'
  | 'date'
  | 'time'
  | 'dateTime'
  | 'timestamp'
  | 'interval'
  | 'uuid'
  | 'json'
  | 'array'
  | 'composite'
  | 'csv'
  | 'binary'
  | 'geometry'
  | 'vector'
  | 'hash'
  | 'secret'
  | 'token'
  | 'unknown';

/** Every portable type by its name. */
export const types: Readonly<Record<PortableType, TypeDefinition>> = {
  string,
  text,
  enum: enumeration,
  integer,
  bigInteger,
  decimal,
  float,
  boolean,
  date,
  time,
  dateTime,
  timestamp,
  interval,
  uuid,
  json,
  array,
  composite,
  csv,
  binary,
  geometry,
  vector,
  hash,
  secret,
  token,
  unknown,
};

/** True if a text names a portable type. */
export function isPortableType(name: string): name is PortableType {
  return Object.hasOwn(types, name);
}

/** True if a field of this type is secret: it can be selected, and reads masked, but cannot be named anywhere else. */
export function isSecret(name: PortableType): boolean {
  return types[name].comparison === null;
}

/** True if this type compares text: the literal `null` of a query string then means the four letters. */
export function isTextual(name: PortableType): boolean {
  const { comparison } = types[name];
  return comparison === 'text' || comparison === 'list';
}

/** True if this type is numbers. */
export function isNumber(name: PortableType): boolean {
  return types[name].comparison === 'number';
}

/** True if this type is whole numbers. */
export function isWhole(name: PortableType): boolean {
  return types[name].key === 'integer';
}

/** Types of a field in GraphQL. Integers without a sign have those of larger ones, because they outgrow `Int`. */
export function graphqlForms(type: PortableType, native?: string): TypeDefinition['graphql'] {
  return types[isBeyondInt({ type, native }) ? 'bigInteger' : type].graphql;
}

/** True for integers that are numbers over REST, and outgrow the integers of GraphQL. */
export function isBeyondInt({
  type,
  native,
}: {
  readonly type: PortableType;
  readonly native?: string | undefined;
}): boolean {
  return type === 'integer' && native === unsignedInteger;
}

/** The functions that take fields of a type. */
export function functionsOf(name: PortableType): readonly FieldFunction[] {
  return types[name].functions ?? none;
}

/** True if fields of a type have a distance to what `_near` names. */
export function isMeasured(name: PortableType): boolean {
  return name === 'geometry' || name === 'vector';
}

/** True if something is computed of fields of a type beside their values: functions, or a distance. */
export function isComputable(name: PortableType): boolean {
  return functionsOf(name).length > 0 || isMeasured(name);
}

/** A function of the whole row, quoted for SQL; or an expression, with `{}` in the place of the row's alias. */
export type ComputedValue = { readonly call: string } | { readonly expression: string };

/** True if `*` leaves a field out, so that only its name selects it: values that a function computes, and long lists. */
export function isSelectedByName(field: { readonly type: PortableType; readonly computed?: ComputedValue }): boolean {
  return field.type === 'vector' || (field.computed !== undefined && 'call' in field.computed);
}

const none: readonly FieldFunction[] = [];

/** True if a text names a field function (API specification, section 5.3). */
export function isFieldFunction(name: string): name is FieldFunction {
  return fieldFunctions.some((candidate) => candidate === name);
}

/** True if a function takes fields of this type; `count` also takes to-many relations, which have none. */
export function functionFits(name: FieldFunction, type: PortableType): boolean {
  return functionsOf(type).includes(name);
}
