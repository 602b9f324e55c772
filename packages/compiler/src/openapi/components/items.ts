/** The component of a collection that describes its items. Source: API specification, sections 6 and 7.1. */
import { type FieldDescriptor, isMeasured, types } from '@tablewright/runtime/language';
import { keepText } from '../../print/json.ts';
import type { RoleCollection, RoleField, RoleRelation } from '../../role-view/role-view.ts';
import { about, anyOf, described, type JsonObject, listOf, reference } from '../json.ts';
import { callEntries, commonEntries, properties, withCommon } from './aggregation.ts';
import { aboutValue, briefSchema, keptSchema, orNull, valueSchema } from './values.ts';

/** Describes an item. No property is required: `fields` chooses them, and `alias` adds others. */
export function itemSchema(collection: RoleCollection): JsonObject {
  const { note, fields, relations } = collection;
  const common = new Set(commonEntries(collection).map(([name]) => name));
  const entries = [
    ...fields.map((field) => [field.name, fieldSchema(field)] as const),
    ...relations.map(
      (relation) => [relation.name, about(relationSchema(relation), null, relation.deprecated)] as const,
    ),
    ...callEntries(collection),
    ...collection.fields.filter(({ descriptor }) => isMeasured(descriptor.type)).map(distanceEntry),
  ].filter(([name]) => !common.has(name));
  return withCommon(collection, {
    type: 'object',
    ...described(note),
    ...(entries.length > 0 && { properties: properties(entries) }),
  });
}

/** Describes a list: aggregate rows where the request has `aggregate` or `groupBy`, else items. */
export function rowsSchema({ names }: RoleCollection): JsonObject {
  return anyOf(...[names.item, names.aggregate].map((name) => listOf(reference('schemas', name))));
}

function distanceEntry({ name }: RoleField): readonly [string, JsonObject] {
  return [`${name}_distance`, distance];
}

const distance: JsonObject = keepText(
  orNull(keptSchema(types.float.schema, { type: 'float', native: 'float8', wire: { kind: 'number' } })),
);

function fieldSchema({ descriptor, values, nullable, note, deprecated, items }: RoleField): JsonObject {
  const value = valueSchema(descriptor, values);
  // In `deep` a condition makes any item null.
  const alone = nullable || items.length > 0 ? orNull(value) : value;
  if (items.length === 0) return aboutValue(alone, note, deprecated);
  return about(anyOf(briefSchema(alone), ...items.map(({ item }) => reference('schemas', item))), note, deprecated);
}

function relationSchema(relation: RoleRelation): JsonObject {
  const item = reference('schemas', relation.target.item);
  // The key of several fields is an object of them, which the item's own description admits.
  if (relation.kind === 'm2o') return orNull(item);
  const key = keyText(relation.targetKey);
  // Rows that `deep` aggregates stand in the place of the items.
  const row = reference('schemas', relation.target.aggregate);
  const list: JsonObject = {
    type: 'array',
    items: anyOf(...(key === null ? [] : [relation.maskedKey ? orNull(key) : key]), item, row),
    ...(relation.single && { maxItems: 1 }),
  };
  return relation.nullable ? orNull(list) : list;
}

/** The key of an item in a list; null where there is none. A key of several fields is text in path form. */
function keyText(key: readonly FieldDescriptor[]): JsonObject | null {
  const [only] = key;
  if (only === undefined) return null;
  return key.length === 1 ? valueSchema(only, null) : { type: 'string' };
}
