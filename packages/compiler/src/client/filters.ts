/** Filter types of a collection. */
import { functionsOf } from '@tablewright/runtime/language';
import type { DeclaredMember, TypeDeclaration } from '../print/declaration.ts';
import { optional } from '../print/declarations.ts';
import { stringLiteral } from '../print/text.ts';
import { generic, list, type Type, union } from '../print/type.ts';
import type { RoleField, RoleRelation } from '../role-view/role-view.ts';
import type { ClientCollection, ReferableCollections } from './client-collections.ts';
import { filterType } from './values.ts';

/** The type of filters; none for a collection that can only be written. */
export function declareFilter(
  { view, names }: ClientCollection,
  collections: ReferableCollections,
): readonly TypeDeclaration[] {
  if (!view.readable) return [];
  const groups = ['_and', '_or'].map((name) => optional(name, list(names.filter)));
  const taken = new Set(['_and', '_or']);
  const members = [
    ...view.fields.flatMap((field) => fieldMember(field, collections)),
    ...view.relations.map((relation) => optional(relation.name, relationFilter(relation, collections))),
    ...view.fields.flatMap(functionMembers),
    ...view.relations.flatMap(countMember),
  ];
  return [
    {
      kind: 'interface',
      name: names.filter,
      notes: [`Conditions on items of \`${view.name}\`; all of them must hold.`],
      members: [...members.filter(({ name }) => !taken.has(name)), ...groups],
    },
  ];
}

/** A relation to one item takes the operators of its key, or a filter of the item. */
function fieldMember(
  { name, descriptor, values, valuesType, filtered, note }: RoleField,
  collections: ReferableCollections,
): readonly DeclaredMember[] {
  const requested = filterType(descriptor, values, valuesType?.name);
  const related = filtered && collections.get(filtered.collection)?.names.filter;
  const parts = [...(related ? [related] : []), ...(requested === null ? [] : [requested])];
  return parts.length === 0 ? [] : [optional(name, union(...parts), [note])];
}

function relationFilter({ kind, target, linked }: RoleRelation, collections: ReferableCollections): Type {
  const filter = collections.get(target.collection)?.names.filter ?? 'never';
  if (kind === 'm2o') return filter;
  const items = linked.flatMap(({ collection }) => collections.get(collection)?.names ?? []);
  if (items.length === 0) return union(filter, generic('ManyOperators', filter));
  const named = items.map((item) => generic('NamedFilter', stringLiteral(item.collection), item.filter));
  const linkFilter = generic('LinkFilter', filter, union(...named));
  return union(linkFilter, generic('ManyOperators', linkFilter));
}

function functionMembers({ name, descriptor }: RoleField): readonly DeclaredMember[] {
  if (descriptor.wire.kind === 'masked') return [];
  return functionsOf(descriptor.type).map((call) => optional(`${call}(${name})`, 'NumberFilter'));
}

function countMember({ name, kind }: RoleRelation): readonly DeclaredMember[] {
  return kind === 'm2o' ? [] : [optional(`count(${name})`, 'NumberFilter')];
}
