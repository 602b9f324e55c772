/**
 * Field types → schemas of their values, exactly as the server writes them.
 *
 * Source: API specification, section 6. A `format` is promised only where every value keeps it: dates can be infinite,
 * or before Christ, so they have patterns.
 */
import { type FieldDescriptor, type PortableType, unsignedInteger } from '@platform/runtime/contract';
import { type JsonObject, reference } from './json.ts';

/** What of a field decides how its value is written. */
export type Valued = Pick<
  FieldDescriptor,
  'type' | 'native' | 'wire' | 'element' | 'maxLength' | 'precision' | 'scale'
>;

/** The schema of a field's value that is not null. */
export function valueSchema(field: Valued, values: readonly string[] | null): JsonObject {
  if (field.wire.kind === 'masked') return masked;
  if (field.type !== 'array') return scalarSchema(field, values);
  const { wire, native, element = 'unknown' } = field;
  const item: Valued = { type: element, native: native.replace(/\[\]$/, ''), wire: { kind: wire.kind } };
  return { type: 'array', items: { anyOf: [orNull(scalarSchema(item, values)), reference('schemas', 'Dimension')] } };
}

/** The components that values of fields refer to, by name. */
export function valueSchemas(): readonly (readonly [string, JsonObject])[] {
  // Not by itself, because types that stand for themselves are not what every generator can print.
  const elements = { type: ['string', 'number', 'boolean', 'null', 'array', 'object'] };
  const description = 'A further dimension: the database does not say how many an array has.';
  return [['Dimension', { type: 'array', description, items: elements }]];
}

/** Admits null as well: by the list of types where there is one. */
export function orNull(schema: JsonObject): JsonObject {
  const { type, enum: labels, anyOf, $ref } = schema;
  if ($ref !== undefined) return { anyOf: [schema, { type: 'null' }] };
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: 'null' }] };
  // Without a type everything is allowed.
  if (type === undefined) return schema;
  return {
    ...schema,
    type: Array.isArray(type) ? [...type, 'null'] : [type, 'null'],
    ...(Array.isArray(labels) && { enum: [...labels, null] }),
  };
}

const masked: JsonObject = { type: 'string', enum: ['**********'] };

const day = '[0-9]{4,}-[0-9]{2}-[0-9]{2}';
const time = '[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,6})?';

function text(pattern: string): JsonObject {
  return { type: 'string', pattern: `^${pattern}$` };
}

/** Types whose values have one form, whatever else is known of the field. */
const fixed = {
  bigInteger: text('-?[0-9]{1,19}'),
  float: { anyOf: [{ type: 'number' }, { type: 'string', enum: ['NaN', 'Infinity', '-Infinity'] }] },
  boolean: { type: 'boolean' },
  date: text(`(${day}( BC)?|-?infinity)`),
  dateTime: text(`(${day}T${time}( BC)?|-?infinity)`),
  timestamp: text(`(${day}T${time}\\+00:00( BC)?|-?infinity)`),
  interval: text('(P[-0-9.YMWDTHS]+|-?infinity)'),
  uuid: { type: 'string', format: 'uuid' },
  json: { description: 'Any JSON.' },
  csv: { type: 'array', items: { type: 'string' } },
  binary: { type: 'string', contentEncoding: 'base64' },
  hash: masked,
  secret: masked,
  token: masked,
  unknown: { type: 'string' },
} as const satisfies Partial<Record<PortableType, JsonObject>>;

/** Integers of MySQL without a sign reach beyond 32 bits. */
export function integerFormat({ native }: Pick<Valued, 'native'>): 'int32' | 'int64' {
  return native === unsignedInteger ? 'int64' : 'int32';
}

function scalarSchema(field: Valued, values: readonly string[] | null): JsonObject {
  switch (field.type) {
    case 'string':
    case 'text':
    case 'enum':
      return textSchema(field, values);
    case 'integer':
      return { type: 'integer', format: integerFormat(field) };
    case 'bigInteger':
      return field.native === 'uint8' ? text('[0-9]{1,20}') : fixed.bigInteger;
    case 'decimal':
      return decimalSchema(field);
    case 'time':
      return text(field.wire.kind === 'time' ? time : `${time}([+-][0-9]{2}(:[0-9]{2}){0,2})?`);
    case 'array':
      return reference('schemas', 'Dimension');
    default:
      return fixed[field.type];
  }
}

function textSchema({ native, maxLength }: Valued, values: readonly string[] | null): JsonObject {
  // Values of char(n) come padded to its length, which a list of values is not.
  if (values !== null && native !== 'bpchar') return { type: 'string', enum: [...new Set(values)] };
  return { type: 'string', ...(maxLength !== undefined && { maxLength }) };
}

/** Without a precision a numeric can be infinite; with a scale it is always written to it. */
function decimalSchema({ precision, scale }: Valued): JsonObject {
  if (precision === undefined) return text('(-?[0-9]+(\\.[0-9]+)?|NaN|-?Infinity)');
  const fraction = scale === undefined || scale <= 0 ? '' : `\\.[0-9]{${scale}}`;
  return text(`(-?[0-9]+${fraction}|NaN)`);
}
