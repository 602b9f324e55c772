/** The file of one collection in a client: its types, and the facts about it. */
import { functionsOf, isSelectedByName } from '@tablewright/runtime/language';
import type { ApiEnum } from '../api.ts';
import { createCache, type Lookup } from '../cache/memo-cache.ts';
import { createFacts } from '../cache/same.ts';
import type { ModuleText } from '../emit/templates.ts';
import {
  type DeclaredMember,
  declareInterface,
  member,
  namesIn,
  optional,
  printDeclarations,
  type TypeDeclaration,
} from '../print/declarations.ts';
import { importTypes, naturalOrder, printImports } from '../print/imports.ts';
import { stringLiteral } from '../print/text.ts';
import { flat, generic, list, type Type, union } from '../print/type.ts';
import type { RoleCollection, RoleField, RoleRelation } from '../role-view/role-view.ts';
import { type ClientCollection, type ClientCollections, libraryTypes, type Referables } from './client-collections.ts';
import { permissionsOf } from './members.ts';
import { declarePayloads } from './payloads.ts';
import { declareReads, nameSets } from './rows.ts';
import { declareValues, enumTypesOf, filterType, literals, takenType } from './values.ts';

/** Types that other files may name, by the file that declares them; `base` leads to it: `./` from its neighbours. */
export function indexTypes(collections: ClientCollections, base: './' | './collections/'): ReadonlyMap<string, string> {
  return new Map([
    ...[...collections.values()].flatMap((collection) =>
      sharedTypes(collection).map((name) => [name, `${base}${collection.names.file}.js`] as const),
    ),
    ...enumsIn(collections).map(({ name }) => [name, base === './' ? '../enums.js' : './enums.js'] as const),
  ]);
}

/** Fields that are read, and those of payloads. */
function fieldsOf({ view: { fields, key, writes } }: ClientCollection) {
  return [...fields, ...key, ...(writes?.create?.fields ?? []), ...(writes?.update?.fields ?? [])];
}

/** The enum types that files of collections name, sorted by name. */
export function enumsIn(collections: ClientCollections): readonly ApiEnum[] {
  const used = new Set([...collections.values()].flatMap(enumsOf));
  return [...used].sort((left, right) => naturalOrder(left.name, right.name));
}

function enumsOf(collection: ClientCollection): readonly ApiEnum[] {
  return enumsOfView(collection.view, () => enumTypesOf(fieldsOf(collection)));
}

const enumsOfView = createFacts<RoleCollection, readonly ApiEnum[]>();

export function declareEnums(enums: readonly ApiEnum[]): readonly TypeDeclaration[] {
  return enums.map(({ name, source, labels }) => ({
    kind: 'alias',
    name,
    notes: [`Labels of \`${source}\`.`],
    type: literals(labels),
  }));
}

/** The types that the file of a collection declares, but for those that no other file needs. */
function sharedTypes({ view, names }: ClientCollection): readonly string[] {
  const { create = null, update = null } = view.writes ?? {};
  return [
    names.facts,
    ...(view.readable ? [names.item, names.filter] : []),
    ...(create === null ? [] : [names.create]),
    ...(update === null ? [] : [names.update]),
    ...(update === null || view.key.length === 0 ? [] : [names.change]),
  ];
}

/** Imports and declarations of the file. */
export function printCollection(
  collection: ClientCollection,
  collections: ClientCollections,
  files: ReadonlyMap<string, string>,
): ModuleText {
  return textOf(collection, [collections, files], (watch) => printOnce(collection, watch(collections), watch(files)));
}

const textOf = createCache<ModuleText>();

const libraries = [{ from: '@tablewright/client/typed', types: libraryTypes }];

function printOnce(collection: ClientCollection, collections: Referables, files: Lookup<string>): ModuleText {
  const types = [
    ...declareValues(fieldsOf(collection)),
    ...declareReads(collection, collections),
    ...declareFilter(collection, collections),
    declareKey(collection),
    ...declarePayloads(collection, collections),
    declareFacts(collection),
  ];
  return {
    imports: printImports(importTypes(namesIn(types), libraries, files)),
    declarations: printDeclarations(types),
  };
}

function declareKey({ view, names }: ClientCollection): TypeDeclaration {
  const keys = view.key.map(({ descriptor, values }) => addressed(takenType(descriptor, values)));
  const [only = 'string' as const] = keys;
  const type = keys.length > 1 ? `readonly [${keys.map(flat).join(', ')}]` : only;
  return { kind: 'alias', name: names.key, notes: [`Key of \`${view.name}\`.`], type };
}

/** Values in a URL are text or numbers. */
function addressed(type: Type): Type {
  return /^(string|number|'|")/.test(flat(type)) ? type : 'string';
}

function declareFacts(collection: ClientCollection): TypeDeclaration {
  const { view, names, echoes } = collection;
  const { create = null, update = null } = view.writes ?? {};
  const nothing = generic('Record', 'never', 'never');
  const computed = view.fields.flatMap(({ name, descriptor }) => (isSelectedByName(descriptor) ? name : []));
  const members: readonly DeclaredMember[] = [
    member('row', view.readable ? names.item : 'null'),
    member('relations', view.readable ? names.relations : nothing),
    member('functions', view.readable ? names.functions : nothing),
    ...(computed.length > 0 ? [member('computed', literals(computed))] : []),
    member('key', names.key),
    member('filter', view.readable ? names.filter : nothing),
    ...nameSets(collection),
    member('create', create === null ? 'never' : names.create),
    member('update', update === null ? 'never' : names.update),
    member('change', update === null || view.key.length === 0 ? 'never' : names.change),
    ...(view.archived ? [member('archived', literals(['include', 'only']))] : []),
    ...conflictsOf(view.writes?.upsert?.keys ?? []),
    member('unread', echoes ? 'never' : 'null'),
    member('rights', literals(permissionsOf(collection))),
  ];
  return declareInterface(names.facts, `Facts that queries of \`${view.name}\` are checked against.`, members);
}

/** The unique keys by which items are changed instead of made. */
function conflictsOf(keys: readonly (readonly string[])[]): readonly DeclaredMember[] {
  if (keys.length === 0) return [];
  const lists = keys.map((key) => `readonly [${key.map(stringLiteral).join(', ')}]`);
  return [member('conflicts', union(...lists))];
}

/** The type of filters; none for a collection that can only be written. */
function declareFilter({ view, names }: ClientCollection, collections: Referables): readonly TypeDeclaration[] {
  if (!view.readable) return [];
  const groups = ['_and', '_or'].map((name) => optional(name, list(names.filter)));
  const taken = new Set(['_and', '_or']);
  const members = [
    ...view.fields.flatMap((field) => fieldMember(field, collections)),
    ...view.relations.map((relation) => optional(relation.name, relationFilter(relation, collections))),
    ...view.fields.flatMap(functionMembers),
    ...view.relations.flatMap(({ name, kind }) => (kind === 'm2o' ? [] : [optional(`count(${name})`, 'NumberFilter')])),
  ];
  const all = [...members.filter(({ name }) => !taken.has(name)), ...groups];
  return [declareInterface(names.filter, `Conditions on items of \`${view.name}\`; all of them must hold.`, all)];
}

/** A relation to one item takes the operators of its key, or a filter of the item. */
function fieldMember(
  { name, descriptor, values, valuesType, filtered, note }: RoleField,
  collections: Referables,
): readonly DeclaredMember[] {
  const requested = filterType(descriptor, values, valuesType?.name);
  const related = filtered && collections.get(filtered.collection)?.names.filter;
  const parts = [...(related ? [related] : []), ...(requested === null ? [] : [requested])];
  return parts.length === 0 ? [] : [optional(name, union(...parts), [note])];
}

function relationFilter({ kind, target, linked }: RoleRelation, collections: Referables): Type {
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
