/** Types of columns in PostgreSQL. */
import { invalidPayload } from '../../../json/problems.ts';
import type { JsonValue, PortableType } from '../../../language/index.ts';
import type { ComputedType, PlainTypeName } from '../../../model/model-sql.ts';
import type { Payload } from '../../../model/payload.ts';

/** The data types that columns of a type may have, the usual one first. */
const dataTypes: Readonly<Record<PlainTypeName, readonly [string, ...string[]]>> = {
  string: ['character varying', 'character', 'inet', 'cidr', 'macaddr', 'macaddr8'],
  text: ['text', 'xml'],
  integer: ['integer', 'smallint'],
  bigInteger: ['bigint'],
  decimal: ['numeric', 'money'],
  float: ['double precision', 'real'],
  boolean: ['boolean'],
  date: ['date'],
  time: ['time without time zone', 'time with time zone'],
  dateTime: ['timestamp without time zone'],
  timestamp: ['timestamp with time zone'],
  interval: ['interval'],
  uuid: ['uuid'],
  json: ['jsonb', 'json'],
  csv: ['text', 'character varying'],
  binary: ['bytea'],
  hash: ['character varying', 'text'],
  secret: ['character varying', 'text'],
};

/** Names of types that mean another one than its own name says. */
const otherNames: Readonly<Record<string, string>> = {
  varchar: 'character varying',
  char: 'character',
  int: 'integer',
  timestamptz: 'timestamp with time zone',
  time: 'time without time zone',
};

/** Prints the type of a column. Throws INVALID_PAYLOAD. */
export function postgresType(type: PlainTypeName, schema: Payload): string {
  const { data_type: dataType = null, max_length: length = null } = schema;
  const [usual, ...others] = dataTypes[type];
  const requested =
    typeof dataType === 'string' ? (otherNames[dataType.toLowerCase()] ?? dataType.toLowerCase()) : usual;
  if (requested !== usual && !others.some((other) => other === requested)) {
    throw invalidPayload(`"schema.data_type" of ${type} must be ${[usual, ...others].join(' or ')}.`);
  }
  if (dataType !== null && schema.max_length === null && requested === 'character varying') return requested;
  if (requested.startsWith('character')) return `${requested}(${length ?? 255})`;
  if (requested.startsWith('time')) return requested.replace(/^\w+/, `$&${secondsOf(schema)}`);
  if (dataType !== null && schema.numeric_precision === null && (schema.numeric_scale ?? null) === null)
    return requested;
  return requested === 'numeric' ? `numeric(${digitsOf(schema)})` : requested;
}

/** The digits of a decimal, and those after its point: `10,5` unless more is said. Throws INVALID_PAYLOAD. */
export function digitsOf({ numeric_precision: precision, numeric_scale: scale }: Payload): string {
  if (precision === 0) throw invalidPayload('"schema.numeric_precision" of decimals must not be 0.');
  const [digits, behind] = [typeof precision === 'number' ? precision : 10, typeof scale === 'number' ? scale : 5];
  if (behind > digits) throw invalidPayload('"schema.numeric_scale" must not be more than the precision.');
  return `${digits},${behind}`;
}

/** The digits behind seconds, in parentheses; as many as the database has unless fewer are said. Throws INVALID_PAYLOAD. */
export function secondsOf({ numeric_precision: digits = null }: Payload): string {
  if (digits === null) return '';
  if (Number(digits) > 6) throw invalidPayload('"schema.numeric_precision" of times must not be more than 6.');
  return `(${digits})`;
}

/** Types that elements of arrays may have: PostgreSQL's names, with the types of their values. */
const elements: Readonly<Record<string, PortableType>> = {
  text: 'text',
  'character varying': 'string',
  varchar: 'string',
  smallint: 'integer',
  integer: 'integer',
  bigint: 'bigInteger',
  numeric: 'decimal',
  real: 'float',
  'double precision': 'float',
  boolean: 'boolean',
  date: 'date',
  'timestamp with time zone': 'timestamp',
  'timestamp without time zone': 'dateTime',
  uuid: 'uuid',
  jsonb: 'json',
};

/** Reads the type of an array: `text[]` unless `schema.data_type` says another one. Throws INVALID_PAYLOAD. */
export function postgresArray({ data_type: dataType = null }: Payload): {
  readonly sql: string;
  readonly of: PortableType;
} {
  const name = typeof dataType === 'string' && dataType.endsWith('[]') ? dataType.slice(0, -2).toLowerCase() : 'text';
  const elementType = Object.hasOwn(elements, name) ? elements[name] : undefined;
  if (elementType !== undefined && (dataType === null || typeof dataType !== 'string' || dataType.endsWith('[]'))) {
    return { sql: `${name}[]`, of: elementType };
  }
  const names = Object.keys(elements).map((element) => `${element}[]`);
  throw invalidPayload(`"schema.data_type" of array must be one of ${names.join(', ')}.`);
}

const computed: Readonly<Record<string, readonly string[]>> = {
  timestamp: ['now()', 'CURRENT_TIMESTAMP'],
  dateTime: ['now()', 'CURRENT_TIMESTAMP', 'LOCALTIMESTAMP'],
  date: ['now()', 'CURRENT_DATE'],
  uuid: ['gen_random_uuid()'],
};

/** A default that the database computes; undefined for what is none. */
export function postgresComputed({ type }: ComputedType, value: JsonValue): string | undefined {
  return computed[type]?.find((candidate) => candidate === value);
}
