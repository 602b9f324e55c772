/**
 * Aggregation input: functions of a collection with their fields, groups, and conditions on rows, which all collections
 * share. Source: API specification, section 5.5; `having` is an addition.
 * The names that can be counted, summed and compared are components of their own, because each stands in many places.
 */
import {
  aggregateFunctions,
  aggregateKind,
  functionsOf,
  isOrdered,
  type JsonValue,
} from '@tablewright/runtime/language';
import { keepText } from '../../print/only-text.ts';
import type { DocumentNames } from '../../role-view/names.ts';
import type { RoleCollection, RoleField } from '../../role-view/role-view.ts';
import { type JsonObject, objectOf, reference } from '../json.ts';
import { aggregateRow, resultSchemas, type TakenFields, takenFields, takings } from './aggregate-rows.ts';
import { numberCondition, orderedCondition } from './conditions.ts';

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
    ...listSchema(names.summed, taken.sum.map(nameOf)),
    ...listSchema(names.ranged, taken.range.map(nameOf)),
    ...setSchema(names.groups, groupNames(collection)),
    [names.functions, functionsSchema(names, taken)],
  ];
}

/** Nothing for a set that is empty, which no schema can say. */
function setSchema(name: string, members: readonly string[]): readonly (readonly [string, JsonObject])[] {
  return members.length === 0 ? [] : [[name, { type: 'string', enum: members }]];
}

/** A list of such names, or the text of it. */
function listSchema(name: string, members: readonly string[]): readonly (readonly [string, JsonObject])[] {
  return setSchema(name, members).map(([, set]) => [name, listOf(set)]);
}

function listOf(names: JsonObject): JsonObject {
  return { anyOf: [{ type: 'array', items: names }, text] };
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

/** Names with commas. */
const text: JsonObject = keepText({ type: 'string' });

function functionsSchema(names: DocumentNames, taken: TakenFields): JsonObject {
  const lists = {
    count: keepText(listOf(reference('schemas', names.counted))),
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

/**
 * The component of conditions on aggregate rows, which all collections share. Names of fields are open, as in `sort`.
 * An object in it is at least two levels deep, and generated clients send such objects as text.
 */
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
