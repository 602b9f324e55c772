/**
 * Aggregation input of a collection: functions with their fields, groups, and conditions on the rows. Source: API
 * specification, section 5.5; `having` is an addition.
 * The names that can be counted, summed and compared are components of their own, because each stands in many places.
 */
import {
  aggregateFunctions,
  aggregateKind,
  functionsOf,
  isOrdered,
  type JsonValue,
} from '@tablewright/runtime/language';
import { keepText } from '../../print/kept-text.ts';
import type { DocumentNames } from '../../role-view/names.ts';
import type { RoleCollection, RoleField } from '../../role-view/role-view.ts';
import { type JsonObject, objectOf, reference } from '../json.ts';
import { aggregateRow, resultSchemas, type TakenFields, takenFields, takings } from './aggregate-rows.ts';
import { conditionOf, numberCondition } from './conditions.ts';

/**
 * Components of a collection for aggregation, by name. Only lists take parameters; rows are described everywhere, because
 * nested items can be aggregated too.
 */
export function aggregateSchemas(collection: RoleCollection): readonly (readonly [string, JsonObject])[] {
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
    ...setSchema(names.summed, taken.sum.map(nameOf)),
    ...setSchema(names.ranged, taken.range.map(nameOf)),
    ...setSchema(names.groups, groupNames(collection)),
    [names.functions, functionsSchema(names, taken)],
    [names.having, havingSchema(names, taken)],
    ...(taken.range.length === 0 ? [] : [[names.bounds, ranged(taken.range)] as const]),
  ];
}

/** Nothing for a set that is empty, which no schema can say. */
function setSchema(name: string, members: readonly string[]): readonly (readonly [string, JsonObject])[] {
  return members.length === 0 ? [] : [[name, { type: 'string', enum: members }]];
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
export function isGrouped({ fields, relations }: RoleCollection): boolean {
  const shown = fields.filter(({ descriptor }) => descriptor.wire.kind !== 'masked');
  return (
    shown.some(({ descriptor }) => isOrdered(descriptor) || functionsOf(descriptor.type).length > 0) ||
    relations.some(({ kind }) => kind !== 'm2o')
  );
}

const text: JsonObject = keepText({ type: 'string', description: 'Names with commas.' });

function functionsSchema(names: DocumentNames, taken: TakenFields): JsonObject {
  const listOf = (set: string): JsonObject =>
    keepText({ anyOf: [{ type: 'array', items: reference('schemas', set) }, text] });
  const lists = { count: listOf(names.counted), sum: listOf(names.summed), range: listOf(names.ranged) };
  const properties = aggregateFunctions.flatMap((name): (readonly [string, JsonValue])[] => {
    if (name === 'countAll') return [[name, { type: 'string', enum: ['*'] }]];
    const taking = takings[aggregateKind(name)];
    if (taken[taking].length > 0) return [[name, lists[taking]]];
    return name === 'count' ? [[name, text]] : [];
  });
  return {
    type: 'object',
    description: 'Functions with the fields that they take; `count` takes `*` for the items themselves, too.',
    properties: objectOf(properties),
    additionalProperties: false,
  };
}

function havingSchema(names: DocumentNames, taken: TakenFields): JsonObject {
  const nested: JsonObject = { type: 'array', items: reference('schemas', names.having) };
  const conditions = {
    count: numbered(names.counted),
    sum: numbered(names.summed),
    range: reference('schemas', names.bounds),
  };
  const properties = aggregateFunctions.flatMap((name): readonly (readonly [string, JsonValue])[] => {
    if (name === 'countAll') return [[name, numberCondition]];
    const taking = takings[aggregateKind(name)];
    const isEmpty = taken[taking].length === 0;
    if (name !== 'count') return isEmpty ? [] : [[name, conditions[taking]]];
    return [[name, isEmpty ? numberCondition : { anyOf: [numberCondition, conditions.count] }]];
  });
  return {
    type: 'object',
    description: 'Conditions on the values of a row, whether they are in the answer or not. Several are met together.',
    properties: objectOf([...properties, ['_and', nested], ['_or', nested]]),
    additionalProperties: false,
  };
}

function numbered(set: string): JsonObject {
  const propertyNames = reference('schemas', set);
  return keepText({ type: 'object', propertyNames, additionalProperties: numberCondition });
}

function ranged(fields: readonly RoleField[]): JsonObject {
  const conditions = fields.flatMap(({ name, descriptor }) => {
    const condition = conditionOf(descriptor);
    return condition === null ? [] : [[name, condition] as const];
  });
  return { type: 'object', properties: objectOf(conditions), additionalProperties: false };
}
