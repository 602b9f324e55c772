/** Aggregation: its input, and the component of a collection that describes its rows. Source: API specification, section 5.5. */
import {
  type AggregateFunction,
  type AggregateKind,
  aggregateFits,
  aggregateFunctions,
  aggregateKind,
  functionsOf,
  isOrdered,
  type JsonValue,
} from '@tablewright/runtime/language';
import type { Lookup } from '../../cache/memo-cache.ts';
import { createFacts } from '../../cache/same.ts';
import { keepText } from '../../print/json.ts';
import type { DocumentNames } from '../../role-view/names.ts';
import type { RoleCollection, RoleField } from '../../role-view/role-view.ts';
import { type JsonObject, listOrText, objectOf, type Parts, reference } from '../json.ts';
import { numberCondition, orderedCondition } from './conditions.ts';
import { aboutValue, briefSchema, grouped, orNull, partsOfTimes, type Valued, valueSchema } from './values.ts';

/** Components for aggregation, by name. Only lists take parameters; nested items are aggregated everywhere. */
export function aggregateSchemas(collection: RoleCollection): Parts {
  const { names, operations } = collection;
  const taken = takenFields(collection);
  const row = [
    [names.aggregate, aggregateRow(collection, taken)] as const,
    ...resultSchemas(names, taken),
    ...setSchema(names.counted, taken.count.map(nameOf)),
  ];
  if (!operations.has('list')) return row;
  return [
    ...row,
    ...listSchema(names.summed, taken.sum.map(nameOf)),
    ...listSchema(names.ranged, taken.range.map(nameOf)),
    ...setSchema(names.groups, groupNames(collection)),
    [names.functions, functionsSchema(names, taken)],
  ];
}

/** Nothing for a set that is empty, which no schema can say. */
function setSchema(name: string, members: readonly string[]): Parts {
  return members.length === 0 ? [] : [[name, { type: 'string', enum: members }]];
}

/** A list of such names, or the text of it. */
function listSchema(name: string, members: readonly string[]): Parts {
  return setSchema(name, members).map(([, set]) => [name, listOrText(set)]);
}

function nameOf({ name }: RoleField): string {
  return name;
}

/** Names in `groupBy`: fields that have an order, functions of fields, and the number of related items. */
export function groupNames({ fields, relations }: RoleCollection): readonly string[] {
  const shown = fields.filter(({ descriptor }) => descriptor.wire.kind !== 'masked');
  const calls = shown.flatMap(({ name, descriptor }) => functionsOf(descriptor.type).map((call) => `${call}(${name})`));
  const counts = relations.filter(({ kind }) => kind !== 'm2o').map(({ name }) => `count(${name})`);
  const plain = shown.filter(({ descriptor }) => isOrdered(descriptor)).map(({ name }) => name);
  return [...new Set([...plain, ...calls, ...counts])];
}

/** True if `groupBy` accepts any name. */
export function isGrouped(collection: RoleCollection): boolean {
  return groupNames(collection).length > 0;
}

/** Names with commas. */
const text: JsonObject = keepText({ type: 'string' });

function functionsSchema(names: DocumentNames, taken: TakenFields): JsonObject {
  const lists = {
    count: keepText(listOrText(reference('schemas', names.counted))),
    sum: keepText(reference('schemas', names.summed)),
    range: keepText(reference('schemas', names.ranged)),
  };
  const properties = aggregateFunctions.flatMap((name): (readonly [string, JsonValue])[] => {
    if (name === 'countAll') return [[name, { type: 'string', enum: ['*'] }]];
    const taking = takings[aggregateKind(name)];
    if (taken[taking].length > 0) return [[name, lists[taking]]];
    return name === 'count' ? [[name, text]] : [];
  });
  return {
    type: 'object',
    properties: objectOf(properties),
    additionalProperties: false,
  };
}

/** The component of conditions on aggregate rows. Names of fields are open; clients send such objects as text. */
export function havingSchema(): JsonObject {
  const nested: JsonObject = { type: 'array', items: reference('schemas', 'Having') };
  const numbers: JsonObject = { type: 'object', additionalProperties: numberCondition };
  const bounds: JsonObject = { type: 'object', additionalProperties: orderedCondition };
  const conditions: Readonly<Record<string, JsonObject>> = {
    countAll: numberCondition,
    count: { anyOf: [numberCondition, numbers] },
    min: bounds,
    max: bounds,
  };
  return {
    type: 'object',
    properties: objectOf([
      ...aggregateFunctions.map((name) => [name, conditions[name] ?? numbers] as const),
      ['_and', nested],
      ['_or', nested],
    ]),
    additionalProperties: false,
  };
}

type Entry = readonly [string, JsonObject];

type TakenFields = Readonly<Record<Taking, readonly RoleField[]>>;

type Taking = 'count' | 'sum' | 'range';

/** Sums and means take the same fields, and so do least and greatest values. */
const takings: Readonly<Record<AggregateKind, Taking>> = {
  count: 'count',
  sum: 'sum',
  avg: 'sum',
  min: 'range',
  max: 'range',
};

function takenFields({ fields }: RoleCollection): TakenFields {
  const shown = fields.filter(({ descriptor }) => descriptor.wire.kind !== 'masked');
  const fitting = (name: AggregateFunction) => shown.filter(({ descriptor }) => aggregateFits(name, descriptor.type));
  return { count: fitting('count'), sum: fitting('sum'), range: fitting('min') };
}

/** Describes one aggregate row: groups, flat, then functions. No property is required: the request chooses. */
function aggregateRow(collection: RoleCollection, taken: TakenFields): JsonObject {
  const results = resultsOf(collection.names);
  const common = new Set(commonEntries(collection).map(([name]) => name));
  const entries = [
    ...groupEntries(collection).filter(([name]) => !common.has(name)),
    ...aggregateFunctions.flatMap((name) => functionEntry(name, taken, results)),
  ];
  return withCommon(collection, { type: 'object', properties: properties(entries) });
}

/** Values that items and aggregate rows have in common, which a component of their own describes. */
export function commonSchema(collection: RoleCollection, shared: Lookup<unknown>): readonly Entry[] {
  const common = commonEntries(collection);
  const schema = grouped(common, partValues(collection), shared);
  return common.length === 0 ? [] : [[collection.names.values, schema]];
}

/** Components of parts of times: `PartsPublishedAtTimestamp`. */
export function partValues(collection: RoleCollection): Parts {
  return partsOfTimes(collection, 'Parts', partEntries);
}

/** Adds what items and aggregate rows have in common. */
export function withCommon(collection: RoleCollection, { type = 'object', ...rest }: JsonObject): JsonObject {
  const { values } = collection.names;
  return commonEntries(collection).length === 0
    ? { type, ...rest }
    : { type, allOf: [reference('schemas', values)], ...rest };
}

/** Fields that can be grouped by and are the same in items, and values of functions, if nothing else has the name. */
export function commonEntries(collection: RoleCollection): readonly Entry[] {
  return commonOf(collection, () => {
    const { fields, relations } = collection;
    const calls = callEntries(collection);
    const taken = [
      ...[...fields, ...relations].map(({ name }) => name),
      ...calls.map(([name]) => name),
      ...fields.map(({ name }) => `${name}_distance`),
      ...aggregateFunctions,
    ];
    const counts = Map.groupBy(taken, (name) => name);
    const plain = fields.filter(
      ({ descriptor, items }) => items.length === 0 && descriptor.wire.kind !== 'masked' && isOrdered(descriptor),
    );
    const entries = [
      ...plain.map((field): Entry => [field.name, aboutValue(groupValue(field), field.note, field.deprecated)]),
      ...calls,
    ];
    return entries.filter(([name]) => counts.get(name)?.length === 1);
  });
}

const commonOf = createFacts<RoleCollection, readonly Entry[]>();

/** Properties by name; where several things have one name, any of them can stand there. */
export function properties(entries: readonly Entry[]): JsonObject {
  // Mostly each has one of its own.
  if (new Set(entries.map(([name]) => name)).size === entries.length) return objectOf(entries);
  const byName = Map.groupBy(entries, ([name]) => name);
  return objectOf([...byName].map(([name, same]) => [name, oneOfAll(same.map(([, schema]) => schema))] as const));
}

function oneOfAll(schemas: readonly JsonObject[]): JsonValue {
  const [only = {}] = schemas;
  return schemas.length === 1 ? only : { anyOf: schemas };
}

function groupEntries(collection: RoleCollection): readonly Entry[] {
  const shown = collection.fields.filter(({ descriptor }) => descriptor.wire.kind !== 'masked');
  return [
    ...shown
      .filter(({ descriptor }) => isOrdered(descriptor))
      .map((field): Entry => [field.name, briefSchema(groupValue(field))]),
    ...callEntries(collection),
  ];
}

/** The values of functions by the names that they have in items and rows: `released_year`, `comments_count`. */
export function callEntries({ fields, relations }: RoleCollection): readonly Entry[] {
  const many = relations.filter(({ kind }) => kind !== 'm2o');
  return [
    ...fields.flatMap(partEntries),
    ...many.map(({ name, nullable }): Entry => [`${name}_count`, nullable ? part : count]),
  ];
}

function partEntries({ name, descriptor }: RoleField): readonly Entry[] {
  const calls = descriptor.wire.kind === 'masked' ? [] : functionsOf(descriptor.type);
  return calls.map((call) => [`${name}_${call}`, part]);
}

function groupValue({ descriptor, values, nullable }: RoleField): JsonObject {
  const value = valueSchema(descriptor, values);
  return nullable ? orNull(value) : value;
}

const count: JsonObject = keepText({ type: 'integer', minimum: 0 });

const part: JsonObject = keepText({ type: ['integer', 'null'] });

/** Results of the functions of a kind, by field. */
type Results = Readonly<Record<AggregateKind, JsonObject>>;

function resultsOf({ counted, sums, extremes }: DocumentNames): Results {
  const propertyNames = reference('schemas', counted);
  return {
    count: keepText({ type: 'object', propertyNames, additionalProperties: count }),
    sum: reference('schemas', sums),
    avg: reference('schemas', sums),
    min: reference('schemas', extremes),
    max: reference('schemas', extremes),
  };
}

/** Components of the values by field that functions give: sums and means have the same, and so have extremes. */
function resultSchemas({ sums, extremes }: DocumentNames, taken: TakenFields): readonly Entry[] {
  const byField = (name: string, kind: AggregateKind): readonly Entry[] => {
    const results = taken[takings[kind]].map((field) => [field.name, briefSchema(resultSchema(kind, field))] as const);
    return results.length === 0 ? [] : [[name, { type: 'object', properties: objectOf(results) }]];
  };
  return [...byField(sums, 'sum'), ...byField(extremes, 'min')];
}

/** The function's value for the items themselves, or an object of its values by field. */
function functionEntry(name: AggregateFunction, taken: TakenFields, results: Results): readonly Entry[] {
  if (name === 'countAll') return [[name, count]];
  const kind = aggregateKind(name);
  const isEmpty = taken[takings[kind]].length === 0;
  if (name === 'count') return [[name, isEmpty ? count : { anyOf: [count, results.count] }]];
  return isEmpty ? [] : [[name, results[kind]]];
}

const float: Valued = { type: 'float', native: 'float8', wire: { kind: 'number' } };
const decimal: Valued = { type: 'decimal', native: 'numeric', wire: { kind: 'text' } };

const floatOrNull = orNull(valueSchema(float, null));
const decimalOrNull = orNull(valueSchema(decimal, null));
/** Sums of integers are whole, means are not. */
const numberOrNull: JsonObject = keepText({ type: ['number', 'null'] });

/** Null where there is no value to compute it of. */
function resultSchema(kind: AggregateKind, { descriptor, values }: RoleField): JsonObject {
  if (kind === 'min' || kind === 'max') return orNull(valueSchema(descriptor, values));
  if (descriptor.type === 'float') return floatOrNull;
  if (descriptor.type === 'integer') return numberOrNull;
  return decimalOrNull;
}
