/** The types of one collection: Key, Item, Create, Update and Filter, every one expanded. */
import { isSelectedByName } from '@tablewright/runtime/language';
import type { ApiCollection, ApiField, ApiRelation } from '../api.ts';
import type { DeclaredMember, TypeDeclaration } from '../print/declaration.ts';
import { member, optional } from '../print/declarations.ts';
import { stringLiteral } from '../print/text.ts';
import { list, nullable, type Type, union, unionOfTexts } from '../print/type.ts';
import { type Collections, keyType, relationFilterType, sentRelation, takenRelation } from './relation-types.ts';
import { filterType, sentType, takenType } from './scalar-types.ts';

/** Declares the types of a collection. Those of payloads exist where the database lets anyone write. */
export function declareTypes(collection: ApiCollection, collections: Collections): readonly TypeDeclaration[] {
  return [
    ...declareValues(collection),
    ...declareKey(collection),
    declareItem(collection, collections),
    ...(collection.descriptor.writable ? declarePayloads(collection, collections) : []),
    declareFilter(collection),
  ];
}

function declareValues({ fields }: ApiCollection): readonly TypeDeclaration[] {
  return fields.flatMap(({ valuesType, values, enumType, descriptor }): readonly TypeDeclaration[] => {
    if (valuesType === null || values === null || enumType !== null) return [];
    const type = unionOfTexts([...new Set(values)].map(stringLiteral));
    return [{ kind: 'alias', name: valuesType, notes: [`Values of \`${descriptor.name}\`.`], type }];
  });
}

function declareKey(collection: ApiCollection): readonly TypeDeclaration[] {
  const { names, fields, descriptor } = collection;
  const notes = [`Key of \`${descriptor.name}\`.`];
  const keys = descriptor.key.flatMap((name) => fields.filter((field) => field.descriptor.name === name));
  const single = keyType(collection);
  if (single !== null) return [{ kind: 'alias', name: names.key, notes, type: single }];
  if (keys.length === 0) return [];
  const members = keys.map((field) => member(field.descriptor.name, sentType(field)));
  return [{ kind: 'interface', name: names.key, notes, members }];
}

function declareItem(collection: ApiCollection, collections: Collections): TypeDeclaration {
  const { names, note, descriptor } = collection;
  const fields = collection.fields.map((field) =>
    (isSelectedByName(field.descriptor) ? optional : member)(
      field.descriptor.name,
      itemType(collection, field, collections),
      [field.note],
    ),
  );
  const relations = otherRelations(collection).map((relation) =>
    member(relation.descriptor.name, withNull(relation, sentRelation(relation, null, collections))),
  );
  const notes = [note ?? `An item of \`${descriptor.name}\`.`];
  return { kind: 'interface', name: names.item, notes, members: [...fields, ...relations] };
}

function itemType(collection: ApiCollection, field: ApiField, collections: Collections): Type {
  const relation = relationOf(collection, field);
  const any = collection.anyItem?.field === field.descriptor.name ? collection.anyItem.targets : [];
  const type = relation ? sentRelation(relation, field, collections) : sentType(field);
  return orNull(field, union(type, ...any.map(({ item }) => item)));
}

function declarePayloads(collection: ApiCollection, collections: Collections): readonly TypeDeclaration[] {
  const { names, descriptor } = collection;
  const created: DeclaredMember[] = [];
  for (const field of collection.fields) {
    if (!field.descriptor.writable) continue;
    const type = payloadType(collection, field, collections);
    const notes = [field.note, defaultNote(field)];
    created.push((field.required ? member : optional)(field.descriptor.name, type, notes));
  }
  const relations = otherRelations(collection).map((relation) =>
    optional(relation.descriptor.name, withNull(relation, takenRelation(relation, null, collections))),
  );
  const members = [...created, ...relations];
  const changes = [`Changes of an item of \`${descriptor.name}\`.`];
  return [
    { kind: 'interface', name: names.create, notes: [`Payload of a new item of \`${descriptor.name}\`.`], members },
    members.length === 0
      ? { kind: 'interface', name: names.update, notes: changes, members }
      : { kind: 'alias', name: names.update, notes: changes, type: `Partial<${names.create}>` },
  ];
}

function payloadType(collection: ApiCollection, field: ApiField, collections: Collections): Type {
  const relation = relationOf(collection, field);
  return orNull(field, relation ? takenRelation(relation, field, collections) : takenType(field));
}

function declareFilter(collection: ApiCollection): TypeDeclaration {
  const { names, anyItem, descriptor } = collection;
  const fields = collection.fields.flatMap((field) => {
    const relation = relationOf(collection, field);
    const requested = filterType(field);
    const parts = [...(relation ? [relationFilterType(relation)] : []), ...(requested ? [requested] : [])];
    return parts.length > 0 ? [optional(field.descriptor.name, union(...parts))] : [];
  });
  const relations = otherRelations(collection).map((relation) =>
    optional(relation.descriptor.name, relationFilterType(relation)),
  );
  const items = (anyItem?.targets ?? []).map(({ collection: name, filter }) => optional(`item:${name}`, filter));
  const groups = ['_and', '_or'].map((name) => optional(name, list(names.filter)));
  const groupNames = new Set(groups.map(({ name }) => name));
  const members = [...fields, ...relations, ...items].filter(({ name }) => !groupNames.has(name));
  const notes = [`Conditions on items of \`${descriptor.name}\`; all of them must hold.`];
  return { kind: 'interface', name: names.filter, notes, members: [...members, ...groups] };
}

/** The many-to-one relation that reads through a field. */
function relationOf({ relations }: ApiCollection, field: ApiField): ApiRelation | undefined {
  return field.relation === null ? undefined : relations.find(({ descriptor }) => descriptor.name === field.relation);
}

/** Relations that are not also a field. */
function otherRelations({ relations, fields }: ApiCollection): readonly ApiRelation[] {
  const names = new Set(fields.map(({ descriptor }) => descriptor.name));
  return relations.filter(({ descriptor }) => !names.has(descriptor.name));
}

function orNull(field: ApiField, type: Type): Type {
  return field.descriptor.nullable ? nullable(type) : type;
}

function withNull({ descriptor }: ApiRelation, type: Type): Type {
  return descriptor.kind === 'm2o' && descriptor.nullable ? nullable(type) : type;
}

function defaultNote({ defaultText }: ApiField): string | null {
  return defaultText === null ? null : `Default: ${defaultText}`;
}
