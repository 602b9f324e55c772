/** The component of a collection that describes its filters. Source: API specification, section 5.2. */
import type { JsonValue } from '@platform/runtime/contract';
import { conditionOf } from './conditions.ts';
import { type JsonObject, objectOf, reference } from './json.ts';
import type { ViewCollection, ViewField, ViewRelation } from './view.ts';

/** Describes a filter. Functions of fields, such as `year(released)`, can stand as names too, so it is not closed. */
export function filterSchema({ names, fields, relations }: ViewCollection): JsonObject {
  const nested: JsonObject = { type: 'array', items: reference('schemas', names.filter) };
  return {
    type: 'object',
    description: 'Conditions by field. Several are met together.',
    properties: objectOf([
      ...fields.flatMap((field) => fieldFilter(field)),
      ...relations.map((relation) => [relation.name, relationFilter(relation)] as const),
      // Last, because a filter means these even where a field has the name.
      ['_and', nested],
      ['_or', nested],
    ]),
  };
}

/** A many-to-one takes the operators of its key, or a filter of the item it leads to. */
function fieldFilter({ name, descriptor, filtered }: ViewField): readonly (readonly [string, JsonValue])[] {
  const masked = descriptor.wire.kind === 'masked';
  const condition = masked ? null : conditionOf(descriptor);
  const related = filtered && reference('schemas', filtered.filter);
  const alternatives = [condition, related].filter((one) => one !== null);
  const [only] = alternatives;
  if (only === undefined) return [];
  return [[name, alternatives.length === 1 ? only : { anyOf: alternatives }]];
}

function relationFilter({ kind, target, linked }: ViewRelation): JsonObject {
  const plain = reference('schemas', target.filter);
  if (kind === 'm2o') return plain;
  const rows = linked.length === 0 ? plain : { allOf: [plain], properties: objectOf(linked.map(linkFilter)) };
  return { allOf: [rows], properties: { _some: rows, _none: rows } };
}

function linkFilter({ collection, names }: ViewRelation['linked'][number]): readonly [string, JsonObject] {
  return [`item:${collection}`, reference('schemas', names.filter)];
}
