/** Writes of a collection by an access class → payloads, ready to print. */
import { type CollectionDescriptor, isSecret } from '@tablewright/runtime/language';
import type { ApiCollection, ApiField } from '../api.ts';
import type { GrantedPayload } from './granted-writes.ts';
import { itemInPlaceOf, nestedWritesOf } from './nested-writes.ts';
import type { RoleField, RoleInput, RoleKeyField, RolePayload, RoleUpsert, RoleWrites } from './role-view.ts';
import { reasonOf, type VisibleApi } from './visible-api.ts';

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

type PayloadParts = Pick<RolePayload, 'fields' | 'nestedWrites'>;

/** Payload of one action. */
function payloadOf(api: ApiCollection, granted: GrantedPayload, visibleApi: VisibleApi): PayloadParts {
  return { fields: inputsOf(api, granted, visibleApi), nestedWrites: nestedWritesOf(api, granted, visibleApi) };
}

/** The key of an item is never changed. */
function withoutKey({ descriptor: { key } }: ApiCollection, fields: readonly RoleInput[]): readonly RoleInput[] {
  return fields.some(({ name }) => key.includes(name)) ? fields.filter(({ name }) => !key.includes(name)) : fields;
}

/** Required fields of a new item, without those that rules set. */
function requiredIn(api: ApiCollection, { fields, preset }: GrantedPayload): readonly string[] {
  const needed = api.fields.filter(({ descriptor, required }) => required || descriptor.required === true);
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
      nullable: nullable && descriptor.required !== true,
      member: itemInPlaceOf(name, api, visibleApi),
    };
  });
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
