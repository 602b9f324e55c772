/** Columns as payloads describe them. Source: API specification, sections 6 and 12.2. */
import { decodeValue, type JsonValue, type PortableType, type ValueType } from '../contract/index.ts';
import { failedValidation, invalidPayload } from '../write/problems.ts';
import type { ModelPlace } from './change.ts';
import { quoteText } from './literals.ts';
import { anyMember, flagMember, integerMember, orNull, type Payload, type ReadMember, textMember } from './payload.ts';

/** Members of the `schema` of a field: the last ones are told only. */
export const columnMembers: Readonly<Record<string, ReadMember>> = {
  name: textMember(64),
  table: textMember(64),
  data_type: orNull(textMember(64)),
  default_value: anyMember,
  max_length: orNull(integerMember(1, 10_485_760)),
  numeric_precision: orNull(integerMember(1, 1_000)),
  numeric_scale: orNull(integerMember(0, 1_000)),
  is_nullable: flagMember,
  is_unique: flagMember,
  is_primary_key: flagMember,
  has_auto_increment: flagMember,
  comment: orNull(textMember()),
  is_generated: anyMember,
  foreign_key_table: anyMember,
  foreign_key_column: anyMember,
};

/** The types that columns can be made of, each with the data types that it may have, its usual one first. */
const dataTypes = {
  string: ['character varying', 'character'],
  text: ['text'],
  integer: ['integer', 'smallint'],
  bigInteger: ['bigint'],
  decimal: ['numeric'],
  float: ['double precision', 'real'],
  boolean: ['boolean'],
  date: ['date'],
  time: ['time without time zone'],
  dateTime: ['timestamp without time zone'],
  timestamp: ['timestamp with time zone'],
  interval: ['interval'],
  uuid: ['uuid'],
  json: ['jsonb', 'json'],
  csv: ['text', 'character varying'],
  binary: ['bytea'],
  hash: ['character varying', 'text'],
  secret: ['character varying', 'text'],
} as const satisfies Partial<Record<PortableType, readonly string[]>>;

/** A type that columns can be made of by its name. */
export type PlainTypeName = keyof typeof dataTypes;

/** A type that columns can be made of. */
export type ColumnTypeName = PlainTypeName | 'enum' | 'array';

/** What a field of such a type is in its row: how the column is read. */
export const specialOf: Readonly<Partial<Record<ColumnTypeName, readonly string[]>>> = {
  csv: ['cast-csv'],
  hash: ['hash', 'conceal'],
  secret: ['conceal'],
};

/** Names of types that mean another one than its own name says. */
const otherNames: Readonly<Record<string, string>> = {
  varchar: 'character varying',
  char: 'character',
  int: 'integer',
  timestamptz: 'timestamp with time zone',
  time: 'time without time zone',
};

/** Takes the type of a new column. Throws INVALID_PAYLOAD for what no column can be made of here. */
export function columnType(value: JsonValue | undefined): ColumnTypeName {
  if (typeof value === 'string' && isColumnType(value)) return value;
  throw invalidPayload(`"type" must be one of ${[...Object.keys(dataTypes), 'enum', 'array'].join(', ')}.`);
}

/** Takes the type that a column gets instead of another one. Throws INVALID_PAYLOAD for what is made with its field. */
export function plainType(value: JsonValue | undefined): PlainTypeName {
  const type = columnType(value);
  if (type !== 'enum' && type !== 'array') return type;
  throw invalidPayload(
    `A field is made as ${type}, and stays one: nothing else becomes it, nor what it is of another.`,
  );
}

function isColumnType(name: string): name is ColumnTypeName {
  return name === 'enum' || name === 'array' || Object.hasOwn(dataTypes, name);
}

/** The type of a column as SQL. */
export function columnSql(type: PlainTypeName, schema: Payload): string {
  const { data_type: given = null, max_length: length = null } = schema;
  const [usual, ...others] = dataTypes[type];
  const wanted = typeof given === 'string' ? (otherNames[given.toLowerCase()] ?? given.toLowerCase()) : usual;
  if (wanted !== usual && !others.some((other) => other === wanted)) {
    throw invalidPayload(`"schema.data_type" of ${type} must be ${[usual, ...others].join(' or ')}.`);
  }
  if (wanted.startsWith('character')) return `${wanted}(${length ?? 255})`;
  if (wanted !== 'numeric') return wanted;
  const { numeric_precision: precision, numeric_scale: scale } = schema;
  const [digits, behind] = [typeof precision === 'number' ? precision : 10, typeof scale === 'number' ? scale : 5];
  if (behind > digits) throw invalidPayload('"schema.numeric_scale" must not be more than the precision.');
  return `numeric(${digits},${behind})`;
}

const computed: Readonly<Record<string, readonly string[]>> = {
  timestamp: ['now()', 'CURRENT_TIMESTAMP'],
  dateTime: ['now()', 'CURRENT_TIMESTAMP', 'LOCALTIMESTAMP'],
  date: ['now()', 'CURRENT_DATE'],
  uuid: ['gen_random_uuid()'],
};

/** A default as SQL: a value of the type, or one of the few that the database computes. Null where there is none. */
export function defaultSql(valueType: ValueType, schema: Payload, place: ModelPlace): string | null {
  const { type } = valueType;
  const { default_value: value = null, max_length: longest = null } = schema;
  if (value === null) return null;
  if (type === 'hash' || type === 'secret') throw invalidPayload(`"schema.default_value" is not for ${type}.`);
  const expression = computed[type]?.find((one) => one === value);
  if (expression !== undefined) return expression;
  const decoded = decodeValue(valueType, value);
  const told = { collection: place.collection, index: undefined };
  if (!decoded.ok) {
    if (decoded.limit === undefined) throw invalidPayload(`"schema.default_value" ${decoded.message}.`);
    throw failedValidation(told, place.field, decoded.limit, decoded.message);
  }
  const length = type === 'string' ? (longest ?? 255) : null;
  if (typeof length === 'number' && [...(decoded.value ?? '')].length > length) {
    throw failedValidation(told, place.field, 'max_length', 'has a default that is too long');
  }
  return decoded.value === null ? null : quoteText(decoded.value);
}
