/** Writes of a collection by an access class → payloads, ready to print. */
import {
  type CollectionDescriptor,
  type ColumnPair,
  isSecret,
  type ManyToAny,
  type ManyToMany,
  type ManyToOne,
  type OneToMany,
  pairsBesideTenant,
  type RelationDescriptor,
  systemCollection,
} from '@tablewright/runtime/language';
import type { ApiCollection, ApiField } from '../api.ts';
import { nameLink } from './names.ts';
import type {
  NestedItem,
  NestedWrite,
  RoleField,
  RoleInput,
  RoleKeyField,
  RolePayload,
  RoleUpsert,
  RoleWrites,
} from './role-view.ts';
import { type GrantedPayload, type GrantedWrites, reasonOf, type VisibleApi } from './visible-api.ts';

/** The writable part of a collection; null if there is none. */
export function writesOf(api: ApiCollection, visibleApi: VisibleApi, readable: ReadonlySet<string>): RoleWrites | null {
  const granted = visibleApi.writes.get(api.descriptor.name)?.granted;
  if (granted === undefined) return null;
  const made = granted.create && payloadOf(api, granted.create, visibleApi);
  const changed =
    granted.update === granted.create ? made : granted.update && payloadOf(api, granted.update, visibleApi);
  const create = made && granted.create && { ...made, required: requiredIn(api, granted.create) };
  const update = changed && { ...changed, fields: withoutKey(api, changed.fields), required: [] };
  const key = payloadKeyOf(
    api,
    visibleApi,
    new Set([...readable, ...(granted.create?.fields ?? []), ...(granted.update?.fields ?? [])]),
  );
  const { delete: remove, purge } = granted;
  return { key, create, update, delete: remove, purge, upsert: upsertOf(api, visibleApi, create, update) };
}

/** The fields of the key as payloads name them, if all of them are shown. */
function payloadKeyOf(api: ApiCollection, visibleApi: VisibleApi, shown: ReadonlySet<string>): RoleWrites['key'] {
  const { key } = api.descriptor;
  if (!key.every((name) => shown.has(name))) return [];
  return key.flatMap((name): readonly RoleKeyField[] => {
    const field = api.fields.find(({ descriptor }) => descriptor.name === name);
    if (field === undefined) return [];
    const { descriptor, note } = field;
    const deprecated = reasonOf(field, visibleApi);
    return [{ name, note: visibleApi.note(note), deprecated, descriptor, ...visibleValues(field, api, visibleApi) }];
  });
}

function payloadOf(
  api: ApiCollection,
  granted: GrantedPayload,
  visibleApi: VisibleApi,
): Pick<RolePayload, 'fields' | 'nestedWrites'> {
  return { fields: inputsOf(api, granted, visibleApi), nestedWrites: nestedWritesOf(api, granted, visibleApi) };
}

/** The key of an item is never changed. */
function withoutKey({ descriptor: { key } }: ApiCollection, fields: readonly RoleInput[]): readonly RoleInput[] {
  return fields.some(({ name }) => key.includes(name)) ? fields.filter(({ name }) => !key.includes(name)) : fields;
}

/** Required fields of a new item, without those that rules set. A file without a content needs its type. */
function requiredIn(api: ApiCollection, { fields, preset }: GrantedPayload): readonly string[] {
  const isFile = api.descriptor.system === true && api.descriptor.name === 'platform_files';
  const needed = api.fields.filter(
    ({ descriptor, required }) => required || descriptor.required === true || (isFile && descriptor.name === 'type'),
  );
  return needed.map(({ descriptor }) => descriptor.name).filter((name) => fields.has(name) && !preset.has(name));
}

function inputsOf(api: ApiCollection, { fields }: GrantedPayload, visibleApi: VisibleApi): readonly RoleInput[] {
  const taken = api.fields.filter(({ descriptor }) => fields.has(descriptor.name));
  return taken.map((field): RoleInput => {
    const { descriptor, note } = field;
    const { name, nullable } = descriptor;
    return {
      name,
      note: visibleApi.note(note),
      deprecated: reasonOf(field, visibleApi),
      descriptor,
      ...visibleValues(field, api, visibleApi),
      // Rows have a number in any case; only items that are no rows have none.
      nullable: nullable && descriptor.required !== true && descriptor.filled !== 'identity',
      member: itemInPlaceOf(name, api, visibleApi),
      ...(namesItem(api, name) && { itemKey: true as const }),
    };
  });
}

/** True if a field has the key of an item of any collection. */
function namesItem({ descriptor }: ApiCollection, name: string): boolean {
  return descriptor.system === true && systemCollection(descriptor.name)?.names?.item === name;
}

/** The allowed values of a field, and their type; neither where they name a hidden collection. */
export function visibleValues(
  { descriptor, values, valuesType, enumType, graphqlEnum }: ApiField,
  api: ApiCollection,
  visibleApi: VisibleApi,
): Pick<RoleField, 'values' | 'valuesType'> {
  if (values === null || namesHiddenCollection(descriptor.name, values, api, visibleApi)) {
    return { values: null, valuesType: null };
  }
  return { values, valuesType: valuesType === null ? null : { name: valuesType, enumType, graphqlEnum } };
}

/** True if the allowed values of a field name collections, one of them hidden. */
function namesHiddenCollection(
  field: string,
  values: readonly string[],
  { descriptor }: ApiCollection,
  { allLinks, visible }: VisibleApi,
): boolean {
  const relations = allLinks.get(descriptor.name) ?? [];
  return (
    relations.some((relation) => relation.collectionField === field) && values.some((value) => !visible.has(value))
  );
}

function upsertOf(
  { descriptor }: ApiCollection,
  visibleApi: VisibleApi,
  create: RolePayload | null,
  update: RolePayload | null,
): RoleUpsert | null {
  if (create === null || update === null || descriptor.singleton) return null;
  const keys = uniqueKeys(descriptor, visibleApi);
  if (keys.length === 0) return null;
  const preset = visibleApi.writes.get(descriptor.name)?.granted.create?.preset;
  const needed = keys.map((key) => key.filter((name) => preset?.has(name) !== true));
  const fields = unite(create.fields, update.fields);
  return { keys, needed, fields, required: [], nestedWrites: unite(create.nestedWrites, update.nestedWrites) };
}

function unite<T extends { readonly name: string }>(first: readonly T[], second: readonly T[]): readonly T[] {
  if (first === second) return first;
  const names = new Set(first.map(({ name }) => name));
  const others = second.filter(({ name }) => !names.has(name));
  return others.length === 0 ? first : [...first, ...others];
}

/** Unique keys of fields that can be read and given to new items, or that rules give them. */
function uniqueKeys(
  { name, fields, constraints = [] }: CollectionDescriptor,
  { visible, writes }: VisibleApi,
): RoleUpsert['keys'] {
  const readable = visible.get(name)?.readable;
  const created = writes.get(name)?.granted.create;
  const secret = new Set(fields.filter(({ type }) => isSecret(type)).map((field) => field.name));
  const usable = (field: string): boolean =>
    readable?.has(field) === true &&
    !secret.has(field) &&
    (created?.fields.has(field) === true || created?.preset.has(field) === true);
  const keys = constraints
    .filter(
      ({ type, incomplete, fields: columns }) => type === 'unique' && incomplete !== true && columns.every(usable),
    )
    .map((key) => key.fields);
  return [...new Map(keys.map((key) => [[...key].sort().join(), key])).values()];
}

/** The relations of a payload that are no fields. */
export function nestedWritesOf(
  api: ApiCollection,
  { listed, fields }: GrantedPayload,
  visibleApi: VisibleApi,
): readonly NestedWrite[] {
  const fieldNames = new Set(api.descriptor.fields.map(({ name }) => name));
  const relations = api.descriptor.relations.filter(({ name }) => listed.has(name) && !fieldNames.has(name));
  return relations.flatMap((relation): readonly NestedWrite[] => {
    if (relation.kind === 'm2o') {
      const holders = writtenOf(api, fields, relation.on, 'from');
      const member = nestedItemOf(relation.target, [], visibleApi);
      if (!holders.every((name) => fields.has(name)) || !isWritable(member)) return [];
      return [{ kind: 'one', name: relation.name, nullable: relation.nullable, member, holders }];
    }
    const nested = manyOf(api.descriptor.name, relation, visibleApi);
    return nested === null ? [] : [nested];
  });
}

function manyOf(
  owner: string,
  relation: Exclude<RelationDescriptor, ManyToOne>,
  visibleApi: VisibleApi,
): NestedWrite | null {
  if (relation.kind === 'm2a') return linksOf(owner, relation, visibleApi);
  return relation.kind === 'o2m' ? childrenOf(relation, visibleApi) : targetsOf(relation, visibleApi);
}

/** The item that may stand in the place of a foreign key; null where only the key may. */
function itemInPlaceOf(field: string, { descriptor }: ApiCollection, visibleApi: VisibleApi): NestedItem | null {
  const relation = descriptor.relations.find((candidate) => candidate.kind === 'm2o' && candidate.field === field);
  const member = relation && nestedItemOf(relation.target, [], visibleApi);
  return member && (member.create || member.update) ? member : null;
}

/** Permissions of an access class on items of a collection, before a relation restricts them. */
function nestedItemOf(collection: string, owned: readonly string[], visibleApi: VisibleApi): NestedItem | null {
  const names = visibleApi.writes.get(collection)?.names ?? visibleApi.visible.get(collection)?.names;
  if (names === undefined) return null;
  const writes = visibleApi.writes.get(collection)?.granted;
  const key = itemKeyOf(collection, visibleApi);
  const update = writes?.update != null && key.length > 0;
  const create = owned.filter((name) => writes !== undefined && isRequired(writes, name));
  const change = owned.filter((name) => key.some((part) => part.name === name));
  const base = { key, links: key.length > 0, names, owned: { create, change } };
  return { ...base, create: writes?.create != null, update };
}

function isRequired({ api, create }: GrantedWrites, name: string): boolean {
  const field = api.fields.find(({ descriptor }) => descriptor.name === name);
  const required = field?.required === true || field?.descriptor.required === true;
  return required && create?.preset.has(name) !== true;
}

function isWritable(member: NestedItem | null): member is NestedItem {
  return member !== null && (member.links || member.create || member.update);
}

/** Children hold the key of the item above, so every change of the relation writes this field. */
function childrenOf({ name, target, on, onDeselect }: OneToMany, visibleApi: VisibleApi): NestedWrite | null {
  const granted = visibleApi.writes.get(target)?.granted;
  const owned = granted === undefined ? [] : linkedOf(granted, on, 'to');
  const member = ownedItemOf(target, owned, visibleApi);
  if (granted === undefined || member === null) return null;
  const empties = fieldsOf(granted.api, pairsBesideTenant(granted.api.descriptor, on, 'to'), 'to').some((field) =>
    isEmptied(granted.api, field),
  );
  const removes = empties ? holds(granted, granted.update, owned) : onDeselect === 'delete' && granted.delete;
  return isWritable(member) || removes ? { kind: 'many', name, member, removes: removes && hasKey(member) } : null;
}

function ownedItemOf(target: string, owned: readonly string[], visibleApi: VisibleApi): NestedItem | null {
  const granted = visibleApi.writes.get(target)?.granted;
  const member = nestedItemOf(target, owned, visibleApi);
  if (granted === undefined || member === null) return null;
  const update = member.update && holds(granted, granted.update, owned);
  const create = member.create && owned.every((field) => granted.create?.fields.has(field));
  return { ...member, create, update, links: update };
}

/** True if a payload may set the fields of a foreign key; fields of the own key stay as they are. */
function holds({ api }: GrantedWrites, payload: GrantedPayload | null, owned: readonly string[]): boolean {
  const { key } = api.descriptor;
  return payload !== null && owned.every((field) => key.includes(field) || payload.fields.has(field));
}

function hasKey({ key }: NestedItem): boolean {
  return key.length > 0;
}

function isEmptied({ descriptor }: ApiCollection, name: string): boolean {
  const field = descriptor.fields.find((candidate) => candidate.name === name);
  return field?.nullable === true && field.required !== true && !descriptor.key.includes(name);
}

/** The junction is made and deleted by the server, in the name of the caller. */
function targetsOf({ name, target, junction, near, far }: ManyToMany, visibleApi: VisibleApi): NestedWrite | null {
  const member = nestedItemOf(target, [], visibleApi);
  const granted = visibleApi.writes.get(junction)?.granted;
  if (member === null || granted === undefined) return null;
  const holders = [...linkedOf(granted, near, 'to'), ...linkedOf(granted, far, 'from')];
  const joins = granted.create !== null && holders.every((field) => granted.create?.fields.has(field));
  const joined: NestedItem = joins ? member : { ...member, links: false, create: false, update: false };
  const removes = granted.delete && hasKey(member);
  return isWritable(joined) || removes ? { kind: 'many', name, member: joined, removes } : null;
}

/** Links name a collection and a key in it, or an item of it. */
function linksOf(owner: string, relation: ManyToAny, visibleApi: VisibleApi): NestedWrite | null {
  const { name, target, on, collectionField, itemField, allowed } = relation;
  const granted = visibleApi.writes.get(target)?.granted;
  const owned = granted === undefined ? [] : fieldsOf(granted.api, on, 'to');
  const link = ownedItemOf(target, owned, visibleApi);
  if (granted === undefined || link === null) return null;
  const named = [collectionField, itemField];
  const names = (payload: GrantedPayload | null) => named.every((field) => payload?.fields.has(field));
  const targets = allowed.flatMap((collection) => {
    const member = nestedItemOf(collection, [], visibleApi);
    return isWritable(member) ? [{ collection, member }] : [];
  });
  const made = { ...link, create: link.create && names(granted.create), update: link.update && names(granted.update) };
  const removes = granted.delete && hasKey(link);
  if (!isWritable(made) && !removes) return null;
  const component = nameLink(owner, name);
  return {
    kind: 'any',
    name,
    component,
    collection: target,
    link: made,
    removes,
    named: [...named, ...owned],
    targets,
  };
}

/** Fields that links write: that of the tenant only where payloads may name it. */
function writtenOf(
  api: ApiCollection,
  fields: ReadonlySet<string>,
  on: readonly ColumnPair[],
  side: 'from' | 'to',
): readonly string[] {
  const { tenant } = api.descriptor;
  const isNamed = tenant?.kind === 'compare' && fields.has(tenant.field);
  return fieldsOf(api, isNamed ? on : pairsBesideTenant(api.descriptor, on, side), side);
}

function linkedOf(
  { api, create, update }: GrantedWrites,
  on: readonly ColumnPair[],
  side: 'from' | 'to',
): readonly string[] {
  return writtenOf(api, (create ?? update)?.fields ?? new Set(), on, side);
}

/** Names of the fields of a collection behind one side of a relation. */
function fieldsOf({ descriptor }: ApiCollection, on: readonly ColumnPair[], side: 'from' | 'to'): readonly string[] {
  return on.flatMap((pair) => descriptor.fields.find(({ column }) => column === pair[side])?.name ?? []);
}

/** The key of a collection as payloads name items by it: empty where the class cannot read all of it. */
function itemKeyOf(collection: string, { visible, note }: VisibleApi): readonly RoleField[] {
  const seen = visible.get(collection);
  if (seen === undefined) return [];
  const { key } = seen.api.descriptor;
  const fields = key.flatMap((name) => {
    const field = seen.api.fields.find(({ descriptor }) => descriptor.name === name);
    return field === undefined || !seen.readable.has(name) ? [] : [field];
  });
  if (fields.length < key.length) return [];
  return fields.map(({ descriptor, note: text, values }) => {
    const shown = { name: descriptor.name, note: note(text), deprecated: null, descriptor, values };
    return { ...shown, valuesType: null, nullable: false, itemNullable: null, items: [], filtered: null };
  });
}
