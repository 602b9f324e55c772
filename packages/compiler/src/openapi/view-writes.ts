/** Writes of a collection by an access class → payloads, ready to print. */
import { type CollectionDescriptor, isSecret } from '@tablewright/runtime/contract';
import type { ApiCollection } from '../api.ts';
import type { SeenPayload } from './seen-writes.ts';
import { reasonOf, type Sight } from './sight.ts';
import type { ViewInput, ViewKeyField, ViewPayload, ViewUpsert, ViewWrites } from './view.ts';
import { viewLeads, viewOne } from './view-leads.ts';

/** The writable part of a collection; null if there is none. */
export function viewWrites(api: ApiCollection, sight: Sight, readable: ReadonlySet<string>): ViewWrites | null {
  const seen = sight.writes.get(api.descriptor.name)?.seen;
  if (seen === undefined) return null;
  const made = seen.create && viewTaken(api, seen.create, sight);
  const changed = seen.update === seen.create ? made : seen.update && viewTaken(api, seen.update, sight);
  const create = made && seen.create && { ...made, required: requiredIn(api, seen.create) };
  const update = changed && { ...changed, fields: withoutKey(api, changed.fields), required: [] };
  const key = viewKey(
    api,
    sight,
    new Set([...readable, ...(seen.create?.fields ?? []), ...(seen.update?.fields ?? [])]),
  );
  return { key, create, update, delete: seen.delete, upsert: viewUpsert(api, sight, create, update) };
}

/** The fields of the key as payloads name them, if all of them are shown. */
function viewKey(api: ApiCollection, sight: Sight, shown: ReadonlySet<string>): ViewWrites['key'] {
  const { key } = api.descriptor;
  if (!key.every((name) => shown.has(name))) return [];
  return key.flatMap((name): readonly ViewKeyField[] => {
    const field = api.fields.find(({ descriptor }) => descriptor.name === name);
    if (field === undefined) return [];
    const { descriptor, note, values } = field;
    const allowed = values !== null && naming(name, values, api, sight) ? null : values;
    return [{ name, note: sight.note(note), deprecated: reasonOf(field, sight), descriptor, values: allowed }];
  });
}

type Taken = Pick<ViewPayload, 'fields' | 'leads'>;

/** Payload of one action. */
function viewTaken(api: ApiCollection, seen: SeenPayload, sight: Sight): Taken {
  return { fields: viewInputs(api, seen, sight), leads: viewLeads(api, seen, sight) };
}

/** The key of an item is never changed. */
function withoutKey({ descriptor: { key } }: ApiCollection, fields: readonly ViewInput[]): readonly ViewInput[] {
  return fields.some(({ name }) => key.includes(name)) ? fields.filter(({ name }) => !key.includes(name)) : fields;
}

/** Required fields of a new item, without those that rules set. */
function requiredIn(api: ApiCollection, { fields, preset }: SeenPayload): readonly string[] {
  const needed = api.fields.filter(({ descriptor, required }) => required || descriptor.required === true);
  return needed.map(({ descriptor }) => descriptor.name).filter((name) => fields.has(name) && !preset.has(name));
}

function viewInputs(api: ApiCollection, { fields }: SeenPayload, sight: Sight): readonly ViewInput[] {
  const taken = api.fields.filter(({ descriptor }) => fields.has(descriptor.name));
  return taken.map((field): ViewInput => {
    const { descriptor, note, values } = field;
    const { name, nullable } = descriptor;
    return {
      name,
      note: sight.note(note),
      deprecated: reasonOf(field, sight),
      descriptor,
      values: values !== null && naming(name, values, api, sight) ? null : values,
      nullable: nullable && descriptor.required !== true,
      member: viewOne(name, api, sight),
    };
  });
}

/** True if the allowed values of a field name collections, one of them hidden. */
export function naming(
  field: string,
  values: readonly string[],
  { descriptor }: ApiCollection,
  { allLinks, visible }: Sight,
): boolean {
  const relations = allLinks.get(descriptor.name) ?? [];
  return (
    relations.some((relation) => relation.collectionField === field) && values.some((value) => !visible.has(value))
  );
}

function viewUpsert(
  { descriptor }: ApiCollection,
  sight: Sight,
  create: ViewPayload | null,
  update: ViewPayload | null,
): ViewUpsert | null {
  if (create === null || update === null || descriptor.singleton) return null;
  const keys = uniqueKeys(descriptor, sight);
  if (keys.length === 0) return null;
  const preset = sight.writes.get(descriptor.name)?.seen.create?.preset;
  const needed = keys.map((key) => key.filter((name) => preset?.has(name) !== true));
  const fields = unite(create.fields, update.fields);
  return { keys, needed, fields, required: [], leads: unite(create.leads, update.leads) };
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
  { visible, writes }: Sight,
): ViewUpsert['keys'] {
  const readable = visible.get(name)?.readable;
  const created = writes.get(name)?.seen.create;
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
