/** Types of columns that take more than a name: enums, which are types of their own in the database, and arrays. */
import { isObject } from '../contract/filter-syntax.ts';
import type { FieldDescriptor, PortableType } from '../contract/index.ts';
import { quoteName } from '../system/ledger.ts';
import { invalidPayload } from '../write/problems.ts';
import type { KnownModel, ModelStep } from './change.ts';
import type { FoundColumn } from './find.ts';
import { madeName, quoteText } from './literals.ts';
import { objectIn, type Payload } from './payload.ts';

/** Bytes of a value of an enum that the database keeps. */
const longestValue = 63;

/** What arrays may have as elements: names of PostgreSQL's types, and what their values are. */
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
export function arrayType({ data_type: given = null }: Payload): { readonly sql: string; readonly of: PortableType } {
  const name = typeof given === 'string' && given.endsWith('[]') ? given.slice(0, -2).toLowerCase() : 'text';
  const of = Object.hasOwn(elements, name) ? elements[name] : undefined;
  if (of !== undefined && (given === null || typeof given !== 'string' || given.endsWith('[]'))) {
    return { sql: `${name}[]`, of };
  }
  const names = Object.keys(elements).map((element) => `${element}[]`);
  throw invalidPayload(`"schema.data_type" of array must be one of ${names.join(', ')}.`);
}

/** The values in `meta.options.choices`, as they are told of an enum; undefined where nothing is said of them. */
export function choicesIn(meta: Payload): readonly string[] | undefined {
  const { choices } = objectIn(meta, 'options');
  if (choices === undefined) return undefined;
  const values = Array.isArray(choices) ? choices.map((one) => (isObject(one) ? one.value : one)) : [];
  const fit = values.filter(
    (one): one is string =>
      typeof one === 'string' && one !== '' && Buffer.byteLength(one) <= longestValue && !one.includes('\0'),
  );
  if (fit.length === 0 || fit.length !== values.length || new Set(fit).size !== fit.length) {
    throw invalidPayload(
      `"meta.options.choices" of an enum must be a list of objects, each with another text of at most ${longestValue} bytes as its "value".`,
    );
  }
  return fit;
}

/** The type that an enum has which was made here, quoted and qualified. */
export function enumTypeName(schema: string, collection: string, field: string): string {
  return `${quoteName(schema)}.${madeName([collection, field], 'enum')}`;
}

/** Prints the statement that makes it. */
export function createEnum(name: string, values: readonly string[]): string {
  return `CREATE TYPE ${name} AS ENUM (${values.map(quoteText).join(', ')})`;
}

/** Adds values to the type of a field. Throws INVALID_PAYLOAD for values that are missing: items may have them. */
export function enumSteps({ collection, field, column }: FoundColumn, meta: Payload): readonly ModelStep[] {
  const wanted = column.type === 'enum' ? choicesIn(meta) : undefined;
  if (wanted === undefined) return [];
  const known = column.values ?? [];
  const missing = known.filter((value) => !wanted.includes(value));
  if (missing.length > 0) throw invalidPayload(`Values of an enum stay, so ${missing.join(', ')} must be among them.`);
  return wanted
    .filter((value) => !known.includes(value))
    .map((value) => ({
      kind: 'run',
      sql: `ALTER TYPE ${column.native} ADD VALUE ${quoteText(value)}`,
      place: { collection, field },
    }));
}

/** Drops the types that were made here for fields that go, unless others have them too. */
export function dropEnums(
  known: KnownModel,
  collection: string,
  fields: readonly FieldDescriptor[],
): readonly ModelStep[] {
  const others = known.api.collections.flatMap((one) => one.fields).filter((field) => !fields.includes(field));
  const used = new Set(others.map(({ native }) => native.replace(/\[\]$/, '')));
  return fields.flatMap(({ name, native, type }): readonly ModelStep[] =>
    type === 'enum' && native === enumTypeName(known.schema, collection, name) && !used.has(native)
      ? [{ kind: 'run', sql: `DROP TYPE ${native}`, place: { collection, field: name } }]
      : [],
  );
}
