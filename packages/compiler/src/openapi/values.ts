/**
 * Field types → schemas of their values, exactly as the server writes them.
 *
 * Source: API specification, section 6. A `format` is promised only where every value keeps it: dates can be infinite,
 * or before Christ, so they have patterns.
 */
import { type FieldDescriptor, type PortableType, unsignedInteger } from '@tablewright/runtime/language';
import { createFacts } from '../cache/facts.ts';
import { keepText, keptTextOf } from '../print/kept-text.ts';
import { type JsonObject, reference } from './json.ts';

/** Facts of a field that decide how its value is written. */
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
  const description = 'A further dimension: the database does not say how many an array has.';
  // Any JSON: types that stand for themselves are not what every generator can print.
  return [['Dimension', { type: 'array', description, items: {} }]];
}

/** Admits null as well: by the list of types where there is one. */
export function orNull(schema: JsonObject): JsonObject {
  // A schema that stands in many places has a nullable form that does so, too.
  return keptTextOf(schema) === undefined ? withNull(schema) : nullable(schema, () => keepText(withNull(schema)));
}

const nullable = createFacts<JsonObject, JsonObject>();

function withNull(schema: JsonObject): JsonObject {
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

const masked: JsonObject = keepText({ type: 'string', enum: ['**********'] });

const day = '[0-9]{4,}-[0-9]{2}-[0-9]{2}';
const time = '[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,6})?';

function text(pattern: string): JsonObject {
  return keepText({ type: 'string', pattern: `^${pattern}$` });
}

/** Types whose values have one form, independent of other facts. */
const fixed = {
  bigInteger: text('-?[0-9]{1,19}'),
  float: keepText({ anyOf: [{ type: 'number' }, { type: 'string', enum: ['NaN', 'Infinity', '-Infinity'] }] }),
  boolean: keepText({ type: 'boolean' }),
  date: text(`(${day}( BC)?|-?infinity)`),
  dateTime: text(`(${day}T${time}( BC)?|-?infinity)`),
  timestamp: text(`(${day}T${time}\\+00:00( BC)?|-?infinity)`),
  interval: text('(P[-0-9.YMWDTHS]+|-?infinity)'),
  uuid: keepText({ type: 'string', format: 'uuid' }),
  json: keepText({ description: 'Any JSON.' }),
  csv: keepText({ type: 'array', items: { type: 'string' } }),
  binary: keepText({ type: 'string', contentEncoding: 'base64' }),
  hash: masked,
  secret: masked,
  token: masked,
  unknown: keepText({ type: 'string' }),
} as const satisfies Partial<Record<PortableType, JsonObject>>;

/** Integers of MySQL without a sign reach beyond 32 bits. */
export function integerFormat({ native }: Pick<Valued, 'native'>): 'int32' | 'int64' {
  return native === unsignedInteger ? 'int64' : 'int32';
}

const integers = {
  int32: keepText({ type: 'integer', format: 'int32' }),
  int64: keepText({ type: 'integer', format: 'int64' }),
};

const unsigned = text('[0-9]{1,20}');

const times = { plain: text(time), zoned: text(`${time}([+-][0-9]{2}(:[0-9]{2}){0,2})?`) };

const plainText: JsonObject = keepText({ type: 'string' });

const anyDecimal = text('(-?[0-9]+(\\.[0-9]+)?|NaN|-?Infinity)');

/** Schemas of texts by the list of their values. */
const choices = createFacts<readonly string[], JsonObject>();

/** Schemas of texts by their maximum length, and of decimals by their digits after the point. */
const limited = new Map<number, JsonObject>();
const decimals = new Map<number, JsonObject>();

function once(schemas: Map<number, JsonObject>, by: number, make: (by: number) => JsonObject): JsonObject {
  const schema = schemas.get(by) ?? keepText(make(by));
  schemas.set(by, schema);
  return schema;
}

function scalarSchema(field: Valued, values: readonly string[] | null): JsonObject {
  switch (field.type) {
    case 'string':
    case 'text':
    case 'enum':
      return textSchema(field, values);
    case 'integer':
      return integers[integerFormat(field)];
    case 'bigInteger':
      return field.native === 'uint8' ? unsigned : fixed.bigInteger;
    case 'decimal':
      return decimalSchema(field);
    case 'time':
      return field.wire.kind === 'time' ? times.plain : times.zoned;
    case 'array':
      return reference('schemas', 'Dimension');
    default:
      return fixed[field.type];
  }
}

function textSchema({ native, maxLength }: Valued, values: readonly string[] | null): JsonObject {
  // Values of char(n) come padded to its length, which a list of values is not.
  if (values !== null && native !== 'bpchar') {
    return choices(values, () => keepText({ type: 'string', enum: [...new Set(values)] }));
  }
  return maxLength === undefined ? plainText : once(limited, maxLength, () => ({ type: 'string', maxLength }));
}

/** Without a precision a numeric can be infinite; with a scale it is always written to it. */
function decimalSchema({ precision, scale }: Valued): JsonObject {
  if (precision === undefined) return anyDecimal;
  return once(decimals, Math.max(scale ?? 0, 0), (digits) => {
    const fraction = digits === 0 ? '' : `\\.[0-9]{${digits}}`;
    return text(`(-?[0-9]+${fraction}|NaN)`);
  });
}
