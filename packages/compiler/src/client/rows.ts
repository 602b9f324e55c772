/** Row types of a collection: its fields, its relations, and the functions of its fields. */
import {
  type AggregateFunction,
  aggregateFits,
  functionsOf,
  isMeasured,
  isSelectedByName,
  type RelationDescriptor,
} from '@tablewright/runtime/language';
import { groupNames } from '../openapi/components/aggregation.ts';
import { type DeclaredMember, declareInterface, member, notesOr, type TypeDeclaration } from '../print/declarations.ts';
import { propertyKey, stringLiteral } from '../print/text.ts';
import { array, generic, nullable, object, type Type, type TypeMember, union, unionOfTexts } from '../print/type.ts';
import type { RoleField, RoleRelation } from '../role-view/role-view.ts';
import type { ClientCollection, Referables } from './client-collections.ts';
import { literals, sentType } from './values.ts';

/** The types of what can be read; none for a collection that can only be written. */
export function declareReads(collection: ClientCollection, collections: Referables): readonly TypeDeclaration[] {
  const { view, names } = collection;
  if (!view.readable) return [];
  return [
    {
      kind: 'interface',
      name: names.item,
      notes: notesOr(view.note, `An item of \`${view.name}\`.`),
      members: [
        ...view.fields.filter(({ descriptor }) => !isSelectedByName(descriptor)).map(fieldMember),
        ...view.relations.flatMap((relation) => rowMember(collection, relation, collections)),
      ],
    },
    declareInterface(names.relations, `Relations of \`${view.name}\`.`, [
      ...view.fields.flatMap(leadingField),
      ...view.relations.map((relation) => relationMember(collection, relation, collections)),
    ]),
    declareInterface(names.functions, `Functions of \`${view.name}\`, with the names that answers have for them.`, [
      ...view.fields.flatMap(functionMembers),
      ...view.relations.flatMap(countMember),
    ]),
  ];
}

/** Facts about names: which of them can be sorted, grouped, counted, summed and compared. */
export function nameSets({ view, names }: ClientCollection): readonly DeclaredMember[] {
  const sorted = literals(groupNames(view));
  const fields = view.fields.filter(({ descriptor }) => descriptor.wire.kind !== 'masked');
  const literalNames = fields.map(({ name }) => stringLiteral(name));
  const taken = (name: AggregateFunction): Type =>
    unionOfTexts(literalNames.filter((_, index) => aggregateFits(name, fields[index]?.descriptor.type ?? 'unknown')));
  const measured = fields.filter(({ descriptor }) => isMeasured(descriptor.type));
  const distances = measured.map(({ name }) => stringLiteral(`distance(${name})`));
  const groups = `${names.facts}['${distances.length === 0 ? 'sort' : 'groups'}']`;
  const ordered: readonly DeclaredMember[] =
    distances.length === 0
      ? [member('sort', sorted), member('groups', groups)]
      : [member('sort', unionOfTexts([groups, ...distances])), member('groups', sorted)];
  return [
    ...ordered,
    member('counted', taken('count')),
    member('summed', taken('sum')),
    member('ranged', taken('min')),
  ];
}

function fieldMember(field: RoleField): DeclaredMember {
  const type = sentType(field.descriptor, field.values, field.valuesType?.name);
  return member(field.name, field.nullable ? nullable(type) : type, [field.note], field.deprecated);
}

/** Member of a relation, which reads as its keys where nothing is nested, as far as they can be read. */
function rowMember(
  collection: ClientCollection,
  relation: RoleRelation,
  collections: Referables,
): readonly DeclaredMember[] {
  const type = relation.kind === 'm2o' ? ownKey(collection, relation, collections) : keysOf(relation, collections);
  if (type === null) return [];
  return [member(relation.name, relation.nullable ? nullable(type) : type, [], relation.deprecated)];
}

function keysOf({ target }: RoleRelation, collections: Referables): Type | null {
  const key = collections.get(target.collection)?.view.key ?? [];
  const first = key[0];
  if (first === undefined) return null;
  return array(key.length > 1 ? 'string' : sentType(first.descriptor, first.values));
}

/** A key of several fields is an object of them. */
function ownKey(
  { descriptor }: ClientCollection,
  { name, target }: RoleRelation,
  collections: Referables,
): Type | null {
  const relation = descriptor.relations.find((candidate) => candidate.name === name);
  const fields = collections.get(target.collection)?.descriptor.fields ?? [];
  if (relation?.kind !== 'm2o') return null;
  const parts = relation.on.flatMap(({ from, to }): readonly TypeMember[] => {
    const source = descriptor.fields.find(({ column }) => column === from);
    const other = fields.find(({ column }) => column === to);
    const key = other?.name ?? source?.name;
    const typed = source ?? other;
    return key && typed ? [{ name: propertyKey(key), optional: false, type: sentType(typed, null) }] : [];
  });
  return object(parts);
}

/** The relation to one item that reads through a field. */
function leadingField({ name, filtered, itemNullable: empty, note, deprecated }: RoleField): readonly DeclaredMember[] {
  if (filtered === null) return [];
  const type = generic('One', stringLiteral(filtered.collection), String(empty));
  return [member(name, type, [note], deprecated)];
}

function relationMember(collection: ClientCollection, relation: RoleRelation, collections: Referables): DeclaredMember {
  return member(relation.name, relationType(collection, relation, collections), [], relation.deprecated);
}

function relationType(collection: ClientCollection, relation: RoleRelation, collections: Referables): Type {
  const target = stringLiteral(relation.target.collection);
  const empty = String(relation.itemNullable ?? relation.nullable);
  if (relation.kind === 'm2o') return generic('One', target, empty);
  const link = linkOf(collection, relation.name);
  const linked = link === undefined ? [] : linkedItems(relation, link, collections);
  if (link === undefined || linked.length === 0) return generic('Many', target, empty);
  const fields = [link.collectionField, link.itemField].map(stringLiteral);
  return generic('Links', target, empty, ...fields, literals(linked));
}

function linkOf(
  { descriptor }: ClientCollection,
  name: string,
): Extract<RelationDescriptor, { kind: 'm2a' }> | undefined {
  return descriptor.relations
    .filter((candidate) => candidate.kind === 'm2a')
    .find((candidate) => candidate.name === name);
}

/** Collections whose items can be read in the place of their key, by those who can read which item it is. */
function linkedItems(
  { linked, target }: RoleRelation,
  { collectionField, itemField }: Extract<RelationDescriptor, { kind: 'm2a' }>,
  collections: Referables,
): readonly string[] {
  const fields = new Set(collections.get(target.collection)?.view.fields.map(({ name }) => name));
  if (!fields.has(collectionField) || !fields.has(itemField)) return [];
  const names = new Set(linked.map(({ collection }) => collection));
  return [...names].filter((name) => collections.get(name)?.descriptor.key.length === 1);
}

/** Infinite dates have no parts, and JSON that is no array no elements: null. */
function functionMembers(field: RoleField): readonly DeclaredMember[] {
  const { name, descriptor, nullable: empty } = field;
  const named = isSelectedByName(descriptor) ? [namedMember(field)] : [];
  if (descriptor.wire.kind === 'masked') return named;
  const certain = !empty && (descriptor.type === 'time' || descriptor.type === 'array');
  if (isMeasured(descriptor.type)) return [...named, callMember('distance', name, false)];
  return [...named, ...functionsOf(descriptor.type).map((call) => callMember(call, name, certain))];
}

/** Only a path of its own selects such a field, as it does the function of a field. */
function namedMember(field: RoleField): DeclaredMember {
  const { name, descriptor, values, valuesType, nullable: empty, note, deprecated } = field;
  const type = sentType(descriptor, values, valuesType?.name);
  return member(name, generic('Call', stringLiteral(name), empty ? nullable(type) : type), [note], deprecated);
}

function countMember({ name, kind, nullable: empty }: RoleRelation): readonly DeclaredMember[] {
  return kind === 'm2o' ? [] : [callMember('count', name, !empty)];
}

function callMember(call: string, name: string, certain: boolean): DeclaredMember {
  const value = certain ? 'number' : union('number', 'null');
  return member(`${call}(${name})`, generic('Call', stringLiteral(`${name}_${call}`), value));
}
