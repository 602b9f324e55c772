/**
 * Field types → schemas of their values, exactly as the server writes them.
 *
 * Source: API specification, section 6. A `format` is promised only where every value keeps it: dates can be infinite,
 * or before Christ, so they have patterns.
 */
import {
  type Attribute,
  type FieldDescriptor,
  findOrCreate,
  isPortableType,
  type PortableType,
  types,
} from '@tablewright/runtime/language';
import type { Lookup } from '../../cache/memo-cache.ts';
import { createFacts } from '../../cache/same.ts';
import { keepText, keptTextOf } from '../../print/json.ts';
import { spellWhole } from '../../role-view/names.ts';
import type { RoleCollection, RoleField } from '../../role-view/role-view.ts';
import { about, type JsonObject, objectOf, oftenReferred, type Parts, reference } from '../json.ts';

/** Facts of a field that decide how its value is written. */
export type Valued = Pick<
  FieldDescriptor,
  'type' | 'native' | 'wire' | 'element' | 'maxLength' | 'precision' | 'scale' | 'geometry' | 'vector' | 'attributes'
>;

/** The schema of a field's value that is not null. */
export function valueSchema(field: Valued, values: readonly string[] | null): JsonObject {
  if (field.wire.kind === 'masked') return masked;
  if (field.attributes !== undefined) return compositeSchema(field);
  if (field.type !== 'array') return scalarSchema(field, values);
  const { wire, native, element = 'unknown' } = field;
  const item: Valued = { type: element, native: native.replace(/\[\]$/, ''), wire: { kind: wire.kind } };
  return { type: 'array', items: { anyOf: [orNull(scalarSchema(item, values)), reference('schemas', 'Dimension')] } };
}

/** An object of members, or an array of such. All members are there. */
function compositeSchema({
  type,
  attributes = [],
}: Pick<Valued, 'attributes'> & { readonly type: string }): JsonObject {
  const properties = attributes.map(({ name, ...member }) => [name, orNull(memberSchema(member))] as const);
  const single: JsonObject = {
    type: 'object',
    properties: objectOf(properties),
    required: attributes.map(({ name }) => name),
    additionalProperties: false,
  };
  return type === 'array' ? { type: 'array', items: orNull(single) } : single;
}

function memberSchema({ type, element, values, ...member }: Omit<Attribute, 'name'>): JsonObject {
  const portable = (name = 'unknown') => (isPortableType(name) ? name : 'unknown');
  if (member.attributes !== undefined) return compositeSchema({ type, attributes: member.attributes });
  const { native } = member;
  const facts = { native, wire: { kind: 'text' }, type: portable(type) } as const;
  return valueSchema({ ...facts, ...(element && { element: portable(element) }) }, values ?? null);
}

/** `IdInteger`: a field and its type, as names of components have them. */
export function nameTyped({ name, descriptor: { type } }: Pick<RoleField, 'name' | 'descriptor'>): string {
  return `${spellWhole(name)}${type.charAt(0).toUpperCase()}${type.slice(1)}`;
}

/** Components for several parts of times. They follow from the name and type of a field, so that collections can share them. */
export function partsOfTimes(
  { fields, relations }: RoleCollection,
  prefix: string,
  entriesOf: (field: RoleField) => Parts,
): Parts {
  const taken = new Set([...fields, ...relations].map(({ name }) => name));
  return fields.flatMap((field) => {
    const entries = entriesOf(field);
    const isFree = entries.length > 1 && !entries.some(([name]) => taken.has(name));
    return isFree ? [[prefix + nameTyped(field), { type: 'object', properties: objectOf(entries) }]] : [];
  });
}

/** Describes an object of which `groups` that are shared describe a part. */
export function grouped(entries: Parts, groups: Parts, shared: Lookup<unknown>): JsonObject {
  const used = groups.filter(([name]) => shared.has(name));
  const names = new Set(used.flatMap(([, { properties }]) => Object.keys(properties ?? {})));
  const others = entries.filter(([name]) => !names.has(name));
  return {
    type: 'object',
    ...(used.length > 0 && { allOf: used.map(([name]) => reference('schemas', name)) }),
    ...(others.length > 0 && { properties: objectOf(others) }),
  };
}

/** The components that values of fields refer to, by name. */
export function valueSchemas(): Parts {
  const description = 'A further dimension: the database does not say how many an array has.';
  return [
    // Any JSON: types that stand for themselves are not what every generator can print.
    ['Dimension', { type: 'array', description, items: {} }],
    ...[...longSchemas].map(([text, name]) => [name, JSON.parse(text)] as const),
  ];
}

/** Refers to the component of a long schema that fields of many collections have; others stand where they are used. */
export function briefSchema(schema: JsonObject): JsonObject {
  return brief(schema, () => {
    const name = longSchemas.get(JSON.stringify(schema));
    return name === undefined ? schema : oftenReferred(name);
  });
}

/** A value with what is said about it, which stands beside the schema itself: tools overlook it beside a reference. */
export function aboutValue(schema: JsonObject, note: string | null, deprecated: string | null): JsonObject {
  const described = about(schema, note, deprecated);
  return described === schema ? briefSchema(schema) : described;
}

const brief = createFacts<JsonObject, JsonObject>();

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

/** Schemas of texts by the list of their values. */
const choices = createFacts<readonly string[], JsonObject>();

function scalarSchema(field: Valued, values: readonly string[] | null): JsonObject {
  const { schema, isListable } = types[field.type];
  // Values of char(n) come padded to its length, which a list of values is not.
  if (values !== null && isListable === true && field.native !== 'bpchar') {
    return choices(values, () => keepText({ type: 'string', enum: [...new Set(values)] }));
  }
  return keptSchema(schema, field);
}

const byFacts = createFacts<(facts: Valued) => JsonObject, Map<string, JsonObject>>();

/** The schema of a type, the same object for the same facts. */
export function keptSchema(schema: JsonObject | ((facts: Valued) => JsonObject), field: Valued): JsonObject {
  if (typeof schema !== 'function') return keepText(schema);
  const schemas = byFacts(schema, () => new Map());
  const { native, wire, maxLength, precision, scale, geometry, vector } = field;
  const facts = `${native} ${wire.kind} ${wire.cast} ${maxLength} ${precision} ${scale} ${geometry?.kind} ${vector?.dimensions}`;
  return findOrCreate(schemas, facts, () => keepText(schema(field)));
}

/** Schema of an input value: values of responses are accepted again; some types accept more. */
export function scalarInput(field: Valued, values: readonly string[] | null): JsonObject {
  const { input } = types[field.type];
  return input === undefined ? valueSchema(field, values) : keptSchema(input, field);
}

/** Names of components by the texts of their schemas: those that are much longer than a reference, and that many fields have. */
const longSchemas = nameLongSchemas();

function nameLongSchemas(): ReadonlyMap<string, string> {
  const usual = (type: PortableType): Valued => ({ type, ...types[type].forms.binary });
  const timestamp = valueSchema(usual('timestamp'), null);
  const integer = scalarInput(usual('integer'), null);
  const bigInteger = scalarInput(usual('bigInteger'), null);
  const named: Readonly<Record<string, JsonObject>> = {
    Timestamp: timestamp,
    TimestampOrNull: orNull(timestamp),
    DecimalOrNull: orNull(valueSchema(usual('decimal'), null)),
    IntegerInput: integer,
    IntegerInputOrNull: orNull(integer),
    BigIntegerInput: bigInteger,
    BigIntegerInputOrNull: orNull(bigInteger),
    TimestampInputOrNull: orNull(scalarInput(usual('timestamp'), null)),
  };
  return new Map(Object.entries(named).map(([name, schema]) => [JSON.stringify(schema), name]));
}
