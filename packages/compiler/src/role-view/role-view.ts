/**
 * Api and access class → the API as the class has it: one view for the OpenAPI document, the GraphQL schema, the client, the
 * model endpoints and comparisons. They print what it holds, so a hidden name has no way into them.
 */
import type { AccessClass, FieldDescriptor, RelationDescriptor } from '@tablewright/runtime/language';
import type { Api, ApiCollection, ApiField, Operation } from '../api.ts';
import { createCache, type Lookup, type Watch } from '../cache/remember.ts';
import { createInterning } from '../cache/same.ts';
import type { DocumentNames } from './names.ts';
import type { NoteReader } from './notes.ts';
import { isMasked, isPartial, reasonOf, type VisibleApi, type VisibleCollection, visibleApiOf } from './visible-api.ts';
import { namesHiddenCollection, writesOf } from './writes.ts';

/** Contents of a document. */
export interface RoleView {
  /** Requests without a token are of this class. */
  readonly anonymous: boolean;
  readonly administrator: boolean;
  /** Tells a text of the database, or nothing where it names what is hidden. */
  readonly note: NoteReader;
  /** In the order of the Api. */
  readonly collections: readonly RoleCollection[];
}

/** A collection of which something can be read or written. */
export interface RoleCollection {
  readonly name: string;
  /** False when it can only be written. */
  readonly readable: boolean;
  readonly singleton: boolean;
  readonly writes: RoleWrites | null;
  readonly names: DocumentNames;
  readonly note: string | null;
  /** Why it should not be used any more; null for what may be, here and below. Empty where the reason must not be shown. */
  readonly deprecated: string | null;
  readonly operations: ReadonlySet<Operation['kind']>;
  /** In key order; empty when there is none or when it cannot be read, and then no item can be named. */
  readonly key: readonly RoleField[];
  /** True if hooks may fill the required fields of a new item. */
  readonly hooked: boolean;
  /** In the order of the columns. */
  readonly fields: readonly RoleField[];
  /** Relations without a field of their name, sorted by name. */
  readonly relations: readonly RoleRelation[];
}

/** Facts of a key field that payloads use. */
export type RoleKeyField = Pick<RoleField, 'name' | 'note' | 'deprecated' | 'descriptor' | 'values'>;

/** Writes of a collection. */
export interface RoleWrites {
  /** In key order; empty where payloads cannot name it: it can neither be read nor written. */
  readonly key: readonly RoleKeyField[];
  readonly create: RolePayload | null;
  readonly update: RolePayload | null;
  readonly delete: boolean;
  /** Null where no unique key can be named by which an item is made or changed. */
  readonly upsert: RoleUpsert | null;
}

/** Fields of a payload. */
export interface RolePayload {
  /** In the order of the columns. One list where two payloads have the same, so that it is made and looked at once. */
  readonly fields: readonly RoleInput[];
  /** Names of the fields that it must have, in their order. */
  readonly required: readonly string[];
  /** Relations without a field of their name, sorted by name. */
  readonly nestedWrites: readonly NestedWrite[];
}

/** Payload that creates an item or changes the existing one. */
export interface RoleUpsert extends RolePayload {
  /** The unique keys, each by the names of its fields. */
  readonly keys: readonly (readonly string[])[];
  /** Alternatives of required fields of a payload; rules may set the others. */
  readonly needed: readonly (readonly string[])[];
}

/** A field of a payload. */
export interface RoleInput extends Pick<RoleField, 'name' | 'note' | 'deprecated' | 'descriptor' | 'values'> {
  readonly nullable: boolean;
  /** For a many-to-one: the item that may stand in the place of its key. */
  readonly member: NestedItem | null;
}

/** Payload of an item of another collection. */
export interface NestedItem {
  /** The fields of its key, in their order; empty when it cannot be named. */
  readonly key: readonly RoleField[];
  /** True if its key links it. */
  readonly links: boolean;
  /** True if it can be created, and changed. */
  readonly create: boolean;
  readonly update: boolean;
  readonly names: DocumentNames;
  /** Fields that the relation sets, so that a new item or a key need not have them. */
  readonly owned: { readonly create: readonly string[]; readonly change: readonly string[] };
}

/** Payload of a relation. */
export type NestedWrite =
  | {
      readonly kind: 'one';
      readonly name: string;
      readonly nullable: boolean;
      readonly member: NestedItem;
      /** The fields that hold its key, so that payloads need not set them. */
      readonly holders: readonly string[];
    }
  | {
      readonly kind: 'many';
      readonly name: string;
      readonly member: NestedItem;
      /** True if items can be removed from the relation. */
      readonly removes: boolean;
    }
  | {
      readonly kind: 'any';
      readonly name: string;
      /** Name of the component that describes a link. */
      readonly component: string;
      /** The collection of the links. */
      readonly collection: string;
      readonly link: NestedItem;
      readonly removes: boolean;
      /** Fields that `collection`, `item` and the relation stand for. */
      readonly named: readonly string[];
      readonly targets: readonly { readonly collection: string; readonly member: NestedItem }[];
    };

/** A readable field. */
export interface RoleField {
  readonly name: string;
  readonly note: string | null;
  readonly deprecated: string | null;
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
export interface RoleRelation {
  readonly name: string;
  readonly deprecated: string | null;
  readonly kind: RelationDescriptor['kind'];
  /** A list of at most one item. */
  readonly single: boolean;
  readonly nullable: boolean;
  readonly target: DocumentNames;
  /** The fields of the target's key in key order, for their types: they may be hidden. */
  readonly targetKey: readonly FieldDescriptor[];
  /** True if null can stand in the place of a key, because part of it is hidden on some rows. */
  readonly maskedKey: boolean;
  /** The collections that a many-to-any links. */
  readonly linked: readonly { readonly collection: string; readonly names: DocumentNames }[];
}

/** Readable part of the API for an access class; with null, everything. */
export function roleViewOf(api: Api, access: AccessClass | null): RoleView {
  const visibleApi = visibleApiOf(api, access);
  const notes: Lookup<string | null> = { get: visibleApi.note, has: () => true };
  const hooked: Lookup<string> = new Map((api.hooked ?? []).map((name) => [name, name]));
  return {
    anonymous: access?.roles.includes('public') ?? false,
    administrator: access === null || access.admin,
    note: visibleApi.note,
    collections: api.collections.flatMap(({ descriptor: { name } }): readonly RoleCollection[] => {
      const key = visibleApi.visible.get(name) ?? visibleApi.writes.get(name);
      if (key === undefined) return [];
      const make = (watch: Watch) => collectionOf(name, watchedApi(visibleApi, notes, watch), watch(hooked).has(name));
      return [
        rememberCollection(
          key,
          [visibleApi.visible, visibleApi.links, visibleApi.allLinks, visibleApi.writes, notes, hooked],
          null,
          make,
        ),
      ];
    }),
  };
}

const rememberCollection = createCache<RoleCollection>();

function watchedApi(visibleApi: VisibleApi, notes: Lookup<string | null>, watch: Watch): VisibleApi {
  const read = watch(notes);
  return {
    visible: watch(visibleApi.visible),
    links: watch(visibleApi.links),
    allLinks: watch(visibleApi.allLinks),
    writes: watch(visibleApi.writes),
    note: (text) => (text === null ? null : (read.get(text) ?? null)),
  };
}

/** A collection of which something is seen. */
function collectionOf(name: string, visibleApi: VisibleApi, hooked: boolean): RoleCollection {
  const granted = visibleApi.visible.get(name);
  if (granted !== undefined)
    return internCollection(granted.api, { ...readableCollection(granted, visibleApi), hooked });
  const written = visibleApi.writes.get(name);
  if (written === undefined) throw new Error(`Nothing is seen of ${name}.`);
  return internCollection(written.granted.api, {
    ...writeOnlyCollection(written.granted.api, written.names, visibleApi),
    hooked,
  });
}

/** Classes that see the same of a collection have one view of it, so what is printed of it is printed once. */
const internCollection = createInterning<RoleCollection>();

/** A collection that can only be written. */
function writeOnlyCollection(
  api: ApiCollection,
  names: DocumentNames,
  visibleApi: VisibleApi,
): Omit<RoleCollection, 'hooked'> {
  return {
    name: api.descriptor.name,
    readable: false,
    singleton: api.descriptor.singleton,
    writes: writesOf(api, visibleApi, new Set()),
    names,
    note: visibleApi.note(api.note),
    deprecated: reasonOf(api, visibleApi),
    operations: new Set(api.operations.map(({ kind }) => kind)),
    key: [],
    fields: [],
    relations: [],
  };
}

function readableCollection(collection: VisibleCollection, visibleApi: VisibleApi): Omit<RoleCollection, 'hooked'> {
  const { api, readable } = collection;
  const { name, key } = api.descriptor;
  const shown = api.fields.filter(({ descriptor }) => readable.has(descriptor.name));
  const fields = shown.map((field) => fieldOf(field, collection, visibleApi));
  const inOrder = key.flatMap((part) => fields.filter((field) => field.name === part));
  const fieldNames = new Set(api.descriptor.fields.map((field) => field.name));
  const relations = api.descriptor.relations.filter(
    (candidate) => readable.has(candidate.name) && !fieldNames.has(candidate.name),
  );
  return {
    name,
    readable: true,
    singleton: api.descriptor.singleton,
    writes: writesOf(api, visibleApi, readable),
    names: collection.names,
    note: visibleApi.note(api.note),
    deprecated: reasonOf(api, visibleApi),
    operations: new Set(api.operations.map(({ kind }) => kind)),
    key: inOrder.length === key.length ? inOrder : [],
    fields,
    relations: relations.flatMap((relation) => relationOf(relation, collection, visibleApi)),
  };
}

function fieldOf(field: ApiField, collection: VisibleCollection, visibleApi: VisibleApi): RoleField {
  const { descriptor, note, values } = field;
  const { name, nullable } = descriptor;
  const target = manyToOne(name, collection, visibleApi);
  const items = target === null ? linkedItems(name, collection, visibleApi) : [target];
  // The target of a link can be missing, or of a hidden collection.
  const linked = target === null && items.length > 0;
  return {
    name,
    note: visibleApi.note(note),
    deprecated: reasonOf(field, visibleApi),
    descriptor,
    values: values !== null && namesHiddenCollection(name, values, collection.api, visibleApi) ? null : values,
    // Before its first write a singleton reads as its defaults.
    nullable:
      nullable || collection.api.descriptor.singleton || isMasked(collection, name) || linked || items.some(isPartial),
    items: items.map(({ names }) => names),
    filtered: target?.names ?? null,
  };
}

/** The visible collection that the many-to-one of a field reads. */
function manyToOne(field: string, { api }: VisibleCollection, { visible }: VisibleApi): VisibleCollection | null {
  const relation = api.descriptor.relations.find((candidate) => candidate.kind === 'm2o' && candidate.field === field);
  return (relation && visible.get(relation.target)) ?? null;
}

/** The visible collections whose items a field of a link collection holds. */
function linkedItems(
  field: string,
  { api }: VisibleCollection,
  { links, visible }: VisibleApi,
): readonly VisibleCollection[] {
  const relations = (links.get(api.descriptor.name) ?? []).filter(({ itemField }) => itemField === field);
  const names = new Set(relations.flatMap(({ allowed }) => allowed));
  return [...names].flatMap((name) => visible.get(name) ?? []);
}

function relationOf(
  relation: RelationDescriptor,
  collection: VisibleCollection,
  visibleApi: VisibleApi,
): readonly RoleRelation[] {
  const { visible } = visibleApi;
  const target = visible.get(relation.target);
  if (!target) return [];
  const { key, fields } = target.api.descriptor;
  const optional = relation.kind === 'm2o' && (relation.nullable || isPartial(target));
  const allowed = relation.kind === 'm2a' ? relation.allowed : [];
  return [
    {
      name: relation.name,
      deprecated: reasonOf(
        collection.api.relations.find(({ descriptor }) => descriptor === relation) ?? {},
        visibleApi,
      ),
      kind: relation.kind,
      single: relation.kind === 'o2m' && relation.single === true,
      nullable: optional || isMasked(collection, relation.name),
      target: target.names,
      maskedKey: key.some((part) => isMasked(target, part)),
      targetKey: key.flatMap((part) => fields.filter(({ name }) => name === part)),
      linked: allowed.flatMap((name) => {
        const linked = visible.get(name);
        return linked ? [{ collection: name, names: linked.names }] : [];
      }),
    },
  ];
}
