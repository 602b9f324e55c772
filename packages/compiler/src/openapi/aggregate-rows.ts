/** The component of a collection that describes its aggregate rows. Source: API specification, section 5.5. */
import {
  type AggregateFunction,
  type AggregateKind,
  aggregateFits,
  aggregateFunctions,
  aggregateKind,
  functionsOf,
  isOrdered,
  type JsonValue,
} from '@platform/runtime/contract';
import { type JsonObject, objectOf, reference } from './json.ts';
import { orNull, type Valued, valueSchema } from './values.ts';
import type { ViewCollection, ViewField } from './view.ts';

type Entry = readonly [string, JsonObject];

/**
 * Describes one aggregate row: the values that it was grouped by, flat, then functions. No property is required, because
 * the request chooses; where a group and a function have one name, either can stand there.
 */
export function aggregateRow(collection: ViewCollection): JsonObject {
  const entries = [
    ...groupEntries(collection),
    ...aggregateFunctions.flatMap((name) => functionEntry(collection, name)),
  ];
  return {
    type: 'object',
    description: 'Values of many items: what they are grouped by, and the functions that were asked for.',
    properties: properties(entries),
  };
}

/** Properties by name; where several things have one name, any of them can stand there. */
export function properties(entries: readonly Entry[]): JsonObject {
  const byName = Map.groupBy(entries, ([name]) => name);
  return objectOf([...byName].map(([name, same]) => [name, oneOfAll(same.map(([, schema]) => schema))] as const));
}

function oneOfAll(schemas: readonly JsonObject[]): JsonValue {
  const [only = {}] = schemas;
  return schemas.length === 1 ? only : { anyOf: schemas };
}

function groupEntries(collection: ViewCollection): readonly Entry[] {
  const shown = collection.fields.filter(({ descriptor }) => descriptor.wire.kind !== 'masked');
  return [
    ...shown.filter(({ descriptor }) => isOrdered(descriptor)).map((field): Entry => [field.name, groupValue(field)]),
    ...callEntries(collection),
  ];
}

/** The values of functions by the names that they have in items and rows: `released_year`, `comments_count`. */
export function callEntries({ fields, relations }: ViewCollection): readonly Entry[] {
  const shown = fields.filter(({ descriptor }) => descriptor.wire.kind !== 'masked');
  const many = relations.filter(({ kind }) => kind !== 'm2o');
  const part: JsonObject = { type: ['integer', 'null'] };
  return [
    ...shown.flatMap(({ name, descriptor }) =>
      functionsOf(descriptor.type).map((call): Entry => [`${name}_${call}`, part]),
    ),
    ...many.map(({ name, nullable }): Entry => [`${name}_count`, nullable ? part : count]),
  ];
}

function groupValue({ descriptor, values, nullable }: ViewField): JsonObject {
  const value = valueSchema(descriptor, values);
  return nullable ? orNull(value) : value;
}

const count: JsonObject = { type: 'integer', minimum: 0 };

/** The function's value for the items themselves, or an object of its values by field. */
function functionEntry({ names, fields }: ViewCollection, name: AggregateFunction): readonly Entry[] {
  const kind = aggregateKind(name);
  if (name === 'countAll') return [[name, count]];
  const taken = fields.filter(
    ({ descriptor }) => descriptor.wire.kind !== 'masked' && aggregateFits(name, descriptor.type),
  );
  if (taken.length === 0) return name === 'count' ? [[name, count]] : [];
  if (kind === 'count') {
    const byField = { type: 'object', propertyNames: reference('schemas', names.counted), additionalProperties: count };
    return [[name, name === 'count' ? { anyOf: [count, byField] } : byField]];
  }
  const results = taken.map((field) => [field.name, resultSchema(kind, field)] as const);
  return [[name, { type: 'object', properties: objectOf(results) }]];
}

const float: Valued = { type: 'float', native: 'float8', wire: { kind: 'number' } };
const decimal: Valued = { type: 'decimal', native: 'numeric', wire: { kind: 'text' } };

/** Null where there is no value to compute it of. */
function resultSchema(kind: AggregateKind, { descriptor, values }: ViewField): JsonObject {
  if (kind === 'min' || kind === 'max') return orNull(valueSchema(descriptor, values));
  if (descriptor.type === 'float') return orNull(valueSchema(float, null));
  if (descriptor.type === 'integer') return { type: [kind === 'avg' ? 'number' : 'integer', 'null'] };
  return orNull(valueSchema(decimal, null));
}
