/** The component of a collection that describes its filters. Source: API specification, section 5.2. */
import { functionsOf, type JsonValue } from '@tablewright/runtime/language';
import type { RoleCollection, RoleField, RoleRelation } from '../../role-view/role-view.ts';
import { type JsonObject, objectOf, reference } from '../json.ts';
import { conditionOf, numberCondition } from './conditions.ts';

/**
 * The components of a collection's filters: the names that may stand in one, and the filter of items itself, which has
 * no others. Relations to many items add to the names.
 */
export function filterSchemas(collection: RoleCollection): readonly (readonly [string, JsonObject])[] {
  const { names } = collection;
  const closed = { type: 'object', allOf: [reference('schemas', names.conditions)], unevaluatedProperties: false };
  return [
    [names.conditions, conditionsSchema(collection)],
    [names.filter, closed],
  ];
}

function conditionsSchema({ names, fields, relations }: RoleCollection): JsonObject {
  const nested: JsonObject = { type: 'array', items: reference('schemas', names.filter) };
  return {
    type: 'object',
    properties: objectOf([
      ...fields.flatMap((field) => functionFilters(field)),
      ...relations.filter(({ kind }) => kind !== 'm2o').map(({ name }) => [`count(${name})`, numberCondition] as const),
      ...fields.flatMap((field) => fieldFilter(field)),
      ...relations.map((relation) => [relation.name, relationFilter(relation)] as const),
      // Last, because a filter means these even where a field has the name.
      ['_and', nested],
      ['_or', nested],
    ]),
  };
}

/** `year(released)` and the like. */
function functionFilters({ name, descriptor }: RoleField): readonly (readonly [string, JsonObject])[] {
  if (descriptor.wire.kind === 'masked') return [];
  return functionsOf(descriptor.type).map((call) => [`${call}(${name})`, numberCondition]);
}

/** A many-to-one takes the operators of its key, or a filter of the item it leads to. */
function fieldFilter({ name, descriptor, filtered }: RoleField): readonly (readonly [string, JsonValue])[] {
  const masked = descriptor.wire.kind === 'masked';
  const condition = masked ? null : conditionOf(descriptor);
  const related = filtered && reference('schemas', filtered.filter);
  const alternatives = [condition, related].filter((alternative) => alternative !== null);
  const [only] = alternatives;
  if (only === undefined) return [];
  return [[name, alternatives.length === 1 ? only : { anyOf: alternatives }]];
}

function relationFilter({ kind, target, linked }: RoleRelation): JsonObject {
  const plain = reference('schemas', target.filter);
  if (kind === 'm2o') return plain;
  const links = objectOf(linked.map(linkFilter));
  const names: JsonObject = { type: 'object', allOf: [reference('schemas', target.conditions)] };
  const rows = linked.length === 0 ? plain : { ...names, properties: links, unevaluatedProperties: false };
  return { ...names, properties: { ...links, _some: rows, _none: rows }, unevaluatedProperties: false };
}

function linkFilter({ collection, names }: RoleRelation['linked'][number]): readonly [string, JsonObject] {
  return [`item:${collection}`, reference('schemas', names.filter)];
}
