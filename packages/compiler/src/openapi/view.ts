/** Api and access class → what a document shows of them, ready to print. */
import {
  type AccessClass,
  type CollectionDescriptor,
  type FieldDescriptor,
  isSecret,
  type RelationDescriptor,
} from '@platform/runtime/contract';
import type { Api, ApiCollection, ApiField, Operation } from '../api.ts';
import type { DocumentNames } from './names.ts';
import type { SeenPayload } from './seen-writes.ts';
import { isMasked, isPartial, look, type Seen, type Sight } from './sight.ts';

/** What a document shows. */
export interface View {
  /** Requests without a token are of this class. */
  readonly anonymous: boolean;
  readonly administrator: boolean;
  /** In the order of the Api. */
  readonly collections: readonly ViewCollection[];
}

/** A collection of which something can be read or written. */
export interface ViewCollection {
  readonly name: string;
  /** False when it can only be written. */
  readonly readable: boolean;
  readonly singleton: boolean;
  readonly writes: ViewWrites | null;
  readonly names: DocumentNames;
  readonly note: string | null;
  readonly operations: ReadonlySet<Operation['kind']>;
  /** In key order; empty when there is none or when it cannot be read, and then no item can be named. */
  readonly key: readonly ViewField[];
  /** In the order of the columns. */
  readonly fields: readonly ViewField[];
  /** Relations without a field of their name, sorted by name. */
  readonly relations: readonly ViewRelation[];
}

/** What can be written. */
export interface ViewWrites {
  readonly create: readonly ViewInput[] | null;
  readonly update: readonly ViewInput[] | null;
  readonly delete: boolean;
  /** Null where no unique key can be named by which an item is made or changed. */
  readonly upsert: ViewUpsert | null;
}

/** What makes an item or changes the one that there is. */
export interface ViewUpsert {
  /** The unique keys, each by the names of its fields. */
  readonly keys: readonly (readonly string[])[];
  /** What a payload has for one of them: rules may give the rest. */
  readonly needed: readonly (readonly string[])[];
  readonly inputs: readonly ViewInput[];
}

/** A field of a payload. */
export interface ViewInput extends Pick<ViewField, 'name' | 'note' | 'descriptor' | 'values'> {
  readonly required: boolean;
  readonly nullable: boolean;
}

/** A readable field. */
export interface ViewField {
  readonly name: string;
  readonly note: string | null;
  readonly descriptor: FieldDescriptor;
  /** Allowed values of the field, or of an array's elements; null when there is no list. */
  readonly values: readonly string[] | null;
  /** Also true where null stands for a cell or item that the caller may not read. */
  readonly nullable: boolean;
  /** The collections whose items can stand in its place: of its many-to-one, or those that a many-to-any links. */
  readonly items: readonly DocumentNames[];
  /** The collection that its filter leads on to. */
  readonly filtered: DocumentNames | null;
}

/** A readable relation to many items, or to one through several fields. */
export interface ViewRelation {
  readonly name: string;
  readonly kind: RelationDescriptor['kind'];
  /** A list of at most one item. */
  readonly single: boolean;
  readonly nullable: boolean;
  readonly target: DocumentNames;
  /** The fields of the target's key in key order, for their types: they may be hidden. */
  readonly targetKey: readonly FieldDescriptor[];
  /** The collections that a many-to-any links. */
  readonly linked: readonly { readonly collection: string; readonly names: DocumentNames }[];
}

/** What an access class may read; with null, everything. */
export function viewOf(api: Api, access: AccessClass | null): View {
  const sight = look(api, access);
  return {
    anonymous: access?.roles.includes('public') ?? false,
    administrator: access === null || access.admin,
    collections: api.collections.flatMap(({ descriptor: { name } }): readonly ViewCollection[] => {
      const seen = sight.visible.get(name);
      const written = sight.writes.get(name);
      if (seen !== undefined) return [viewCollection(seen, sight)];
      return written === undefined ? [] : [unreadCollection(written.seen.api, written.names, sight)];
    }),
  };
}

/** A collection that can only be written. */
function unreadCollection(api: ApiCollection, names: DocumentNames, sight: Sight): ViewCollection {
  return {
    name: api.descriptor.name,
    readable: false,
    singleton: api.descriptor.singleton,
    writes: viewWrites(api, sight),
    names,
    note: sight.note(api.note),
    operations: new Set(api.operations.map(({ kind }) => kind)),
    key: [],
    fields: [],
    relations: [],
  };
}

function viewWrites(api: ApiCollection, sight: Sight): ViewWrites | null {
  const seen = sight.writes.get(api.descriptor.name)?.seen;
  if (seen === undefined) return null;
  const keys = new Set(api.descriptor.key);
  const create = seen.create && viewInputs(api, seen.create, sight, true);
  // The key of an item is never changed.
  const update = seen.update && viewInputs(api, seen.update, sight, false).filter(({ name }) => !keys.has(name));
  return { create, update, delete: seen.delete, upsert: viewUpsert(api, sight, create, update) };
}

function viewUpsert(
  api: ApiCollection,
  sight: Sight,
  create: ViewWrites['create'],
  update: ViewWrites['update'],
): ViewUpsert | null {
  const { descriptor } = api;
  if (create === null || update === null || descriptor.singleton) return null;
  const keys = uniqueKeys(descriptor, sight);
  const names = new Set(create.map(({ name }) => name));
  const inputs = [...create, ...update.filter(({ name }) => !names.has(name))];
  if (keys.length === 0) return null;
  const preset = sight.writes.get(descriptor.name)?.seen.create?.preset;
  const needed = keys.map((key) => key.filter((name) => preset?.has(name) !== true));
  return { keys, needed, inputs: inputs.map((input) => ({ ...input, required: false })) };
}

/** Unique keys of fields that can be read and given to new items, or that rules give them. */
function uniqueKeys({ name, fields, constraints = [] }: CollectionDescriptor, { visible, writes }: Sight) {
  const readable = visible.get(name)?.readable;
  const given = writes.get(name)?.seen.create;
  const secret = new Set(fields.filter(({ type }) => isSecret(type)).map((field) => field.name));
  const usable = (field: string): boolean =>
    readable?.has(field) === true &&
    !secret.has(field) &&
    (given?.fields.has(field) === true || given?.preset.has(field) === true);
  const keys = constraints
    .filter(({ type, incomplete, fields: own }) => type === 'unique' && incomplete !== true && own.every(usable))
    .map((key) => key.fields);
  return [...new Map(keys.map((key) => [[...key].sort().join(), key])).values()];
}

function viewInputs(api: ApiCollection, { fields, preset }: SeenPayload, sight: Sight, create: boolean) {
  return api.fields.flatMap(({ descriptor, note, values, required }): readonly ViewInput[] => {
    const { name, nullable } = descriptor;
    if (!fields.has(name)) return [];
    return [
      {
        name,
        note: sight.note(note),
        descriptor,
        values: values !== null && naming(name, values, api, sight) ? null : values,
        required: create && (required || descriptor.required === true) && !preset.has(name),
        nullable: nullable && descriptor.required !== true,
      },
    ];
  });
}

function viewCollection(seen: Seen, sight: Sight): ViewCollection {
  const { api, readable } = seen;
  const { name, key } = api.descriptor;
  const shown = api.fields.filter(({ descriptor }) => readable.has(descriptor.name));
  const fields = shown.map((field) => viewField(field, seen, sight));
  const inOrder = key.flatMap((part) => fields.filter((field) => field.name === part));
  const own = new Set(api.descriptor.fields.map((field) => field.name));
  const relations = api.descriptor.relations.filter((one) => readable.has(one.name) && !own.has(one.name));
  return {
    name,
    readable: true,
    singleton: api.descriptor.singleton,
    writes: viewWrites(api, sight),
    names: seen.names,
    note: sight.note(api.note),
    operations: new Set(api.operations.map(({ kind }) => kind)),
    key: inOrder.length === key.length ? inOrder : [],
    fields,
    relations: relations.flatMap((relation) => viewRelation(relation, seen, sight)),
  };
}

function viewField({ descriptor, note, values }: ApiField, seen: Seen, sight: Sight): ViewField {
  const { name, nullable } = descriptor;
  const target = manyToOne(name, seen, sight);
  const items = target === null ? linkedItems(name, seen, sight) : [target];
  return {
    name,
    note: sight.note(note),
    descriptor,
    values: values !== null && naming(name, values, seen.api, sight) ? null : values,
    // Before its first write a singleton reads as its defaults.
    nullable: nullable || seen.api.descriptor.singleton || isMasked(seen, name) || items.some(isPartial),
    items: items.map(({ names }) => names),
    filtered: target?.names ?? null,
  };
}

/** The visible collection that the many-to-one of a field reads. */
function manyToOne(field: string, { api }: Seen, { visible }: Sight): Seen | null {
  const relation = api.descriptor.relations.find((one) => one.kind === 'm2o' && one.field === field);
  return (relation && visible.get(relation.target)) ?? null;
}

/** The visible collections whose items a field of a link collection holds. */
function linkedItems(field: string, { api }: Seen, { links, visible }: Sight): readonly Seen[] {
  const relations = (links.get(api.descriptor.name) ?? []).filter(({ itemField }) => itemField === field);
  const names = new Set(relations.flatMap(({ allowed }) => allowed));
  return [...names].flatMap((name) => visible.get(name) ?? []);
}

/** Whether the allowed values of a field name collections, one of them hidden. */
function naming(
  field: string,
  values: readonly string[],
  { descriptor }: ApiCollection,
  { allLinks, visible }: Sight,
): boolean {
  const relations = allLinks.get(descriptor.name) ?? [];
  return relations.some((one) => one.collectionField === field) && values.some((value) => !visible.has(value));
}

function viewRelation(relation: RelationDescriptor, seen: Seen, { visible }: Sight): readonly ViewRelation[] {
  const target = visible.get(relation.target);
  if (!target) return [];
  const { key, fields } = target.api.descriptor;
  const optional = relation.kind === 'm2o' && (relation.nullable || isPartial(target));
  const allowed = relation.kind === 'm2a' ? relation.allowed : [];
  return [
    {
      name: relation.name,
      kind: relation.kind,
      single: relation.kind === 'o2m' && relation.single === true,
      nullable: optional || isMasked(seen, relation.name),
      target: target.names,
      targetKey: key.flatMap((part) => fields.filter(({ name }) => name === part)),
      linked: allowed.flatMap((name) => {
        const linked = visible.get(name);
        return linked ? [{ collection: name, names: linked.names }] : [];
      }),
    },
  ];
}
