import { isSelectedByName } from '@tablewright/runtime/language';
import type { Api, ApiCollection, ApiEnum, ApiField, ApiRelation, CollectionNames } from '../api.ts';
import { createCache, type Lookup } from '../cache/memo-cache.ts';
import {
  type DeclaredMember,
  member,
  namesIn,
  optional,
  printDeclarations,
  type TypeDeclaration,
} from '../print/declarations.ts';
import { importTypes, printImports } from '../print/imports.ts';
import { stringLiteral } from '../print/text.ts';
import { flat, generic, list, nullable, type Type, union, unionOfTexts } from '../print/type.ts';
import { filterType, sentType, takenType } from './scalar-types.ts';
import { type ModuleText, type Render, renderModule } from './templates.ts';

/** Look-ups that every collection file needs, made once. */
type CollectionIndex = ReturnType<typeof indexCollections>;

export function indexCollections(api: Api) {
  const typeFiles = api.collections.flatMap(({ names }) =>
    [names.key, names.item, names.create, names.update, names.filter].map((name): readonly [string, string] => [
      name,
      `./${names.file}.js`,
    ]),
  );
  return {
    collections: new Map(api.collections.map((collection) => [collection.descriptor.name, collection])),
    /** Names of types by the file that declares them, relative to its neighbours. */
    typeFiles: new Map([...typeFiles, ...(api.enums ?? []).map(({ name }) => [name, '../enums.js'] as const)]),
  };
}

/** Prints the types of one collection, which no process loads: the server loads the file of its routes. */
export function emitCollection(collection: ApiCollection, index: CollectionIndex, render: Render): string {
  const { collections, typeFiles } = index;
  const text = textOf(collection, [collections, typeFiles], (watch) =>
    printCollection(collection, watch(collections), watch(typeFiles)),
  );
  return renderModule(render, 'collection', `Source: ${collection.source}.`, text);
}

export function emitEnums(enums: readonly ApiEnum[], render: Render): string {
  const declarations = enums.map(({ name, source, labels }): TypeDeclaration => {
    const type = unionOfTexts(labels.map(stringLiteral));
    return { kind: 'alias', name, notes: [`Labels of \`${source}\`.`], type };
  });
  return renderModule(render, 'collection', 'Enum types of the database.', {
    imports: '',
    declarations: printDeclarations(declarations),
  });
}

const textOf = createCache<ModuleText>();

/** Types of the runtime that collection files may name. None ends in a suffix that a collection's own types have. */
const runtimeTypes: ReadonlySet<string> = new Set([
  'ArrayOperators',
  'BooleanOperators',
  'CollectionDescriptor',
  'CompositeOperators',
  'EqualOperators',
  'FloatValue',
  'Geometry',
  'GeometryOperators',
  'JsonOperators',
  'JsonValue',
  'LinkTo',
  'ManyChanges',
  'ManyOperators',
  'NullOperators',
  'OrderOperators',
  'RangeOperators',
  'TextOperators',
  'VectorOperators',
]);

const libraries = [{ from: '@tablewright/runtime', types: runtimeTypes }];

function printCollection(
  collection: ApiCollection,
  collections: Lookup<ApiCollection>,
  typeFiles: Lookup<string>,
): ModuleText {
  const types = declareTypes(collection, collections);
  return {
    imports: printImports(importTypes(namesIn(types), libraries, typeFiles)),
    declarations: printDeclarations(types, 'Record<string, never>'),
  };
}

/** Declares the types of a collection. Those of payloads exist where the database lets anyone write. */
function declareTypes(collection: ApiCollection, collections: Collections): readonly TypeDeclaration[] {
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
    const notes = [field.note, field.defaultText === null ? null : `Default: ${field.defaultText}`];
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

/** Collections by API name, to look up what stands at the other end. */
type Collections = Lookup<ApiCollection>;

/** The value under a relation in an answer: keys, or items where they were asked for. */
function sentRelation(relation: ApiRelation, field: ApiField | null, collections: Collections): Type {
  const { key, item } = relation.target;
  if (relation.descriptor.kind !== 'm2o') return list(union(...keyPart(relation.target, collections), item));
  return union(field ? keyOr(sentType(field), relation.target, collections) : key, item);
}

/** The value under a relation in a payload: link by key, create, update. */
function takenRelation(relation: ApiRelation, field: ApiField | null, collections: Collections): Type {
  const { create, update } = relation.target;
  const isWritable = collections.get(relation.target.collection)?.descriptor.writable ?? false;
  if (relation.descriptor.kind === 'm2o') {
    const link = field ? takenType(field) : relation.target.key;
    return isWritable ? union(link, create, update) : link;
  }
  const key = listedKey(relation.target, collections);
  if (!isWritable) return list(key);
  const made = madeThrough(relation, collections);
  return union(list(union(key, made, update)), generic('ManyChanges', key, made, update));
}

/** New items of a to-many relation: without what the relation sets. */
function madeThrough({ descriptor, target }: ApiRelation, collections: Collections): Type {
  if (descriptor.kind !== 'o2m' && descriptor.kind !== 'm2a') return target.create;
  const fields = collections.get(target.collection)?.fields ?? [];
  const owned = fields.filter((field) => descriptor.on.some(({ to }) => to === field.descriptor.column));
  if (descriptor.kind === 'o2m') {
    const set = owned.filter((field) => field.required).map(nameOf);
    return set.length === 0 ? target.create : generic('Omit', target.create, union(...set));
  }
  const { collectionField, itemField, allowed } = descriptor;
  const set = union(...[collectionField, itemField].map(stringLiteral), ...owned.map(nameOf));
  const links = allowed.flatMap((name): Type[] => {
    const linked = collections.get(name);
    return linked === undefined ? [] : [generic('LinkTo', target.create, set, stringLiteral(name), anyOne(linked))];
  });
  return links.length === 0 ? target.create : union(...links);
}

function nameOf({ descriptor }: ApiField): string {
  return stringLiteral(descriptor.name);
}

/** The key of an item, a new one, or changes of one. */
function anyOne({ names, descriptor }: ApiCollection): Type {
  const objects = descriptor.writable ? [names.create, names.update] : [];
  return union(...(descriptor.key.length > 0 ? [names.key] : []), ...objects);
}

function relationFilterType({ descriptor, target }: ApiRelation): Type {
  if (descriptor.kind === 'm2o') return target.filter;
  return union(target.filter, generic('ManyOperators', target.filter));
}

function keyPart(target: CollectionNames, collections: Collections): readonly Type[] {
  return keyLength(target, collections) === 0 ? [] : [listedKey(target, collections)];
}

/** A key within a list: one of several fields is text in path form there (API specification, section 4). */
function listedKey(target: CollectionNames, collections: Collections): Type {
  return keyLength(target, collections) > 1 ? 'string' : target.key;
}

function keyLength(target: CollectionNames, collections: Collections): number {
  return collections.get(target.collection)?.descriptor.key.length ?? 0;
}

/** The key's name where the foreign key holds the key; a key of another form, or another column, by its own type. */
function keyOr(type: Type, target: CollectionNames, collections: Collections): Type {
  const key = keyType(collections.get(target.collection));
  return key !== null && flat(key) === flat(type) ? target.key : type;
}

/** The type of a key of one field, else null. Lists and objects are named as a path has them: as their JSON. */
function keyType(collection: ApiCollection | undefined): Type | null {
  const fields = collection?.fields.filter(({ keyPosition }) => keyPosition !== null) ?? [];
  const [only] = fields;
  if (fields.length !== 1 || only === undefined) return null;
  return only.descriptor.type === 'array' || only.descriptor.type === 'composite' ? 'string' : sentType(only);
}
