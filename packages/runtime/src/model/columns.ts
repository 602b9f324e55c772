/** Columns as payloads describe them. Source: API specification, sections 6 and 12.2. */
import { failedValidation, invalidPayload } from '../json/problems.ts';
import { isObject } from '../language/conditions/filter-syntax.ts';
import {
  decodeValue,
  type FieldDescriptor,
  type JsonValue,
  types,
  unsignedNatives,
  type ValueType,
} from '../language/index.ts';
import {
  type ColumnTypeName,
  type FoundColumn,
  type KnownModel,
  type ModelPlace,
  type ModelStep,
  type PlainTypeName,
  specialTypes,
} from './model-sql.ts';
import {
  anyMember,
  flagMember,
  integerMember,
  objectIn,
  orNull,
  type Payload,
  type ReadMember,
  textMember,
} from './payload.ts';

/** Members of the `schema` of a field: the last ones are told only. */
export const columnMembers: Readonly<Record<string, ReadMember>> = {
  name: textMember(64),
  table: textMember(64),
  // A schema, and a name in it.
  data_type: orNull(textMember(140)),
  default_value: anyMember,
  max_length: orNull(integerMember(1, 10_485_760)),
  numeric_precision: orNull(integerMember(0, 1_000)),
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

const plainTypes = Object.keys(types).filter((name) => !specialTypes.some((special) => special === name));
const columnTypes: readonly string[] = [...plainTypes, 'enum', 'array'];

/** Takes the type of a new column. Throws INVALID_PAYLOAD for what no column can be made of here. */
export function columnType(value: JsonValue | undefined): ColumnTypeName {
  if (typeof value === 'string' && isColumnType(value)) return value;
  throw invalidPayload(`"type" must be one of ${columnTypes.join(', ')}.`);
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
  return columnTypes.includes(name);
}

/** A type with the limits of its column. */
export type LimitedType = ValueType & Pick<FieldDescriptor, 'maxLength' | 'precision' | 'scale'>;

/** A default as SQL: a value of the type, or one that the database computes. Null where there is none. */
export function defaultSql(
  model: KnownModel,
  valueType: LimitedType,
  schema: Payload,
  location: ModelPlace,
): string | null {
  const { sql } = model;
  const { type } = valueType;
  const { default_value: value = null, data_type: dataType = null } = schema;
  if (value === null) return null;
  if (type === 'hash' || type === 'secret') throw invalidPayload(`"schema.default_value" is not for ${type}.`);
  const expression = sql.computedDefault(valueType, value) ?? reportedExpression(model, value);
  if (expression !== undefined) return expression;
  const native = unsignedNatives.get(String(dataType).toLowerCase());
  const decoded = decodeValue({ ...valueType, ...(native && { native }) }, value);
  const errorLocation = { collection: location.collection, index: undefined };
  if (!decoded.ok) {
    if (decoded.limit === undefined) throw invalidPayload(`"schema.default_value" ${decoded.message}.`);
    throw failedValidation(errorLocation, location.field, decoded.limit, decoded.message);
  }
  if (decoded.value === null) return null;
  const broken = types[type].limit?.(valueType, decoded.value);
  if (broken)
    throw failedValidation(errorLocation, location.field, broken.type, `has a default that ${broken.message}`);
  return sql.defaultLiteral(valueType, decoded.value);
}

/** A default that the database computes for a field already, and that is reported so. Constants are literals. */
function reportedExpression({ api, sql }: KnownModel, value: JsonValue): string | undefined {
  if (typeof value !== 'string' || !/^(?!(?:true|false)$|[bx]')[a-z_(]/i.test(value)) return undefined;
  const isReported = api.collections.some(({ fields }) => fields.some(({ fallback }) => fallback === value));
  return isReported ? sql.expressionDefault(value) : undefined;
}

/** Bytes of a value of an enum that the database keeps. */
const longestValue = 63;

/** The values in `meta.options.choices`, as they are told of an enum; undefined where nothing is said of them. */
export function choicesIn(meta: Payload, existing: readonly string[] = []): readonly string[] | undefined {
  const { choices } = objectIn(meta, 'options');
  if (choices === undefined) return undefined;
  const values = Array.isArray(choices) ? choices.map((choice) => (isObject(choice) ? choice.value : choice)) : [];
  const fit = values.filter(
    (value): value is string =>
      typeof value === 'string' &&
      (existing.includes(value) || (value !== '' && Buffer.byteLength(value) <= longestValue && !value.includes('\0'))),
  );
  if (fit.length === 0 || fit.length !== values.length || new Set(fit).size !== fit.length) {
    throw invalidPayload(
      `"meta.options.choices" of an enum must be a list of objects, each with another text of at most ${longestValue} bytes as its "value".`,
    );
  }
  return fit;
}

/** Adds values to the type of a field. Throws INVALID_PAYLOAD for values that are missing: items may have them. */
export function enumSteps({ sql }: KnownModel, found: FoundColumn, meta: Payload): readonly ModelStep[] {
  const { column } = found;
  const existing = column.values ?? [];
  const requested = column.type === 'enum' ? choicesIn(meta, existing) : undefined;
  if (requested === undefined) return [];
  const missing = existing.filter((value) => !requested.includes(value));
  if (missing.length > 0) throw invalidPayload(`Values of an enum stay, so ${missing.join(', ')} must be among them.`);
  const added = requested.filter((value) => !existing.includes(value));
  return added.length === 0 ? [] : sql.addValues(found, [...existing, ...added], added);
}
