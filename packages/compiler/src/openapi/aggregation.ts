/**
 * What a collection takes to be aggregated: functions with their fields, groups, and conditions on the rows. Source: API
 * specification, section 5.5; `having` is an addition.
 *
 * The names that can be counted, summed and compared are components of their own, because each stands in many places.
 */
import {
  type AggregateFunction,
  aggregateFits,
  aggregateFunctions,
  aggregateKind,
  functionsOf,
  isOrdered,
  type JsonValue,
} from '@platform/runtime/contract';
import { aggregateRow } from './aggregate-rows.ts';
import { conditionOf } from './conditions.ts';
import { type JsonObject, objectOf, reference } from './json.ts';
import type { DocumentNames } from './names.ts';
import type { ViewCollection, ViewField } from './view.ts';

/**
 * Components of a collection for aggregation, by name. Only lists take parameters; rows are described everywhere, because
 * nested items can be aggregated too.
 */
export function aggregateSchemas(collection: ViewCollection): readonly (readonly [string, JsonObject])[] {
  const { names, operations } = collection;
  const row = [
    [names.aggregate, aggregateRow(collection)] as const,
    ...setSchema(names.counted, namesOf(collection, 'count')),
  ];
  if (!operations.has('list')) return row;
  return [
    ...row,
    ...setSchema(names.summed, namesOf(collection, 'sum')),
    ...setSchema(names.ranged, namesOf(collection, 'min')),
    ...setSchema(names.groups, groupNames(collection)),
    [names.functions, functionsSchema(collection)],
    [names.having, havingSchema(collection)],
  ];
}

/** Nothing for a set that is empty, which no schema can say. */
function setSchema(name: string, members: readonly string[]): readonly (readonly [string, JsonObject])[] {
  return members.length === 0 ? [] : [[name, { type: 'string', enum: members }]];
}

function namesOf(collection: ViewCollection, name: AggregateFunction): readonly string[] {
  return fieldsOf(collection, name).map((field) => field.name);
}

/** The fields that a function takes. */
function fieldsOf({ fields }: ViewCollection, name: AggregateFunction): readonly ViewField[] {
  return fields.filter(
    ({ descriptor }) =>
      descriptor.wire.kind !== 'masked' && aggregateFits(name, descriptor.type) && name !== 'countAll',
  );
}

/** The set of names that a function takes. */
function setOf(names: DocumentNames, name: AggregateFunction): string {
  const kind = aggregateKind(name);
  if (kind === 'count') return names.counted;
  return kind === 'sum' || kind === 'avg' ? names.summed : names.ranged;
}

/** What `groupBy` takes: fields that have an order, functions of fields, and the number of related items. */
export function groupNames({ fields, relations }: ViewCollection): readonly string[] {
  const shown = fields.filter(({ descriptor }) => descriptor.wire.kind !== 'masked');
  const calls = shown.flatMap(({ name, descriptor }) => functionsOf(descriptor.type).map((call) => `${call}(${name})`));
  const counts = relations.filter(({ kind }) => kind !== 'm2o').map(({ name }) => `count(${name})`);
  const plain = shown.filter(({ descriptor }) => isOrdered(descriptor)).map(({ name }) => name);
  return [...new Set([...plain, ...calls, ...counts])];
}

/** Whether `groupBy` takes anything. */
export function isGrouped({ fields, relations }: ViewCollection): boolean {
  const shown = fields.filter(({ descriptor }) => descriptor.wire.kind !== 'masked');
  return (
    shown.some(({ descriptor }) => isOrdered(descriptor) || functionsOf(descriptor.type).length > 0) ||
    relations.some(({ kind }) => kind !== 'm2o')
  );
}

const text: JsonObject = { type: 'string', description: 'Names with commas.' };

function functionsSchema(collection: ViewCollection): JsonObject {
  const properties = aggregateFunctions.flatMap((name): (readonly [string, JsonValue])[] => {
    if (name === 'countAll') return [[name, { type: 'string', enum: ['*'] }]];
    const list = { type: 'array', items: reference('schemas', setOf(collection.names, name)) };
    const some = fieldsOf(collection, name).length > 0;
    if (name === 'count') return [[name, some ? { anyOf: [list, text] } : text]];
    return some ? [[name, { anyOf: [list, text] }]] : [];
  });
  return {
    type: 'object',
    description: 'Functions with the fields that they take; `count` takes `*` for the items themselves, too.',
    properties: objectOf(properties),
    additionalProperties: false,
  };
}

function havingSchema(collection: ViewCollection): JsonObject {
  const { names } = collection;
  const nested: JsonObject = { type: 'array', items: reference('schemas', names.having) };
  return {
    type: 'object',
    description: 'Conditions on the values of a row, whether they are in the answer or not. Several are met together.',
    properties: objectOf([
      ...aggregateFunctions.flatMap((name) => havingOf(collection, name)),
      ['_and', nested],
      ['_or', nested],
    ]),
    additionalProperties: false,
  };
}

const number = reference('schemas', 'NumberCondition');

function havingOf(collection: ViewCollection, name: AggregateFunction): readonly (readonly [string, JsonValue])[] {
  if (name === 'countAll') return [[name, number]];
  const fields = fieldsOf(collection, name);
  const byField =
    aggregateKind(name) === 'min' || aggregateKind(name) === 'max' ? ranged(fields) : numbered(collection, name);
  if (name === 'count') return [[name, fields.length === 0 ? number : { anyOf: [number, byField] }]];
  return fields.length === 0 ? [] : [[name, byField]];
}

function numbered({ names }: ViewCollection, name: AggregateFunction): JsonObject {
  return {
    type: 'object',
    propertyNames: reference('schemas', setOf(names, name)),
    additionalProperties: number,
  };
}

function ranged(fields: readonly ViewField[]): JsonObject {
  const conditions = fields.flatMap(({ name, descriptor }) => {
    const condition = conditionOf(descriptor);
    return condition === null ? [] : [[name, condition] as const];
  });
  return { type: 'object', properties: objectOf(conditions), additionalProperties: false };
}
