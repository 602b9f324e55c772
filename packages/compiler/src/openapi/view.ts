/** Api and access class → what a document shows of them, ready to print. */
import type { AccessClass, FieldDescriptor, RelationDescriptor } from '@tablewright/runtime/contract';
import type { Api, ApiCollection, ApiField, Operation } from '../api.ts';
import { createMemory, type Lookup, type Watch } from '../memory/remember.ts';
import { createInterning } from '../memory/same.ts';
import type { DocumentNames } from './names.ts';
import type { NoteReader } from './notes.ts';
import { isMasked, isPartial, look, reasonOf, type Seen, type Sight } from './sight.ts';
import { naming, viewWrites } from './view-writes.ts';

/** Contents of a document. */
export interface View {
  /** Requests without a token are of this class. */
  readonly anonymous: boolean;
  readonly administrator: boolean;
  /** Tells a text of the database, or nothing where it names what is hidden. */
  readonly note: NoteReader;
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
  /** Why it should not be used any more; null for what may be, here and below. Empty where the reason must not be shown. */
  readonly deprecated: string | null;
  readonly operations: ReadonlySet<Operation['kind']>;
  /** In key order; empty when there is none or when it cannot be read, and then no item can be named. */
  readonly key: readonly ViewField[];
  /** True if hooks may fill the required fields of a new item. */
  readonly hooked: boolean;
  /** In the order of the columns. */
  readonly fields: readonly ViewField[];
  /** Relations without a field of their name, sorted by name. */
  readonly relations: readonly ViewRelation[];
}

/** Facts of a key field that payloads use. */
export type ViewKeyField = Pick<ViewField, 'name' | 'note' | 'deprecated' | 'descriptor' | 'values'>;

/** Writes of a collection. */
export interface ViewWrites {
  /** In key order; empty where payloads cannot name it: it can neither be read nor written. */
  readonly key: readonly ViewKeyField[];
  readonly create: ViewPayload | null;
  readonly update: ViewPayload | null;
  readonly delete: boolean;
  /** Null where no unique key can be named by which an item is made or changed. */
  readonly upsert: ViewUpsert | null;
}

/** Fields of a payload. */
export interface ViewPayload {
  /** In the order of the columns. One list where two payloads have the same, so that it is made and looked at once. */
  readonly fields: readonly ViewInput[];
  /** Names of the fields that it must have, in their order. */
  readonly required: readonly string[];
  /** Relations without a field of their name, sorted by name. */
  readonly leads: readonly ViewLead[];
}

/** Payload that creates an item or changes the existing one. */
export interface ViewUpsert extends ViewPayload {
  /** The unique keys, each by the names of its fields. */
  readonly keys: readonly (readonly string[])[];
  /** Alternatives of required fields of a payload; rules may set the others. */
  readonly needed: readonly (readonly string[])[];
}

/** A field of a payload. */
export interface ViewInput extends Pick<ViewField, 'name' | 'note' | 'deprecated' | 'descriptor' | 'values'> {
  readonly nullable: boolean;
  /** For a many-to-one: the item that may stand in the place of its key. */
  readonly member: ViewMember | null;
}

/** Payload of an item of another collection. */
export interface ViewMember {
  /** The fields of its key, in their order; empty when it cannot be named. */
  readonly key: readonly ViewField[];
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
export type ViewLead =
  | {
      readonly kind: 'one';
      readonly name: string;
      readonly nullable: boolean;
      readonly member: ViewMember;
      /** The fields that hold its key, so that payloads need not set them. */
      readonly holders: readonly string[];
    }
  | {
      readonly kind: 'many';
      readonly name: string;
      readonly member: ViewMember;
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
      readonly link: ViewMember;
      readonly removes: boolean;
      /** Fields that `collection`, `item` and the relation stand for. */
      readonly named: readonly string[];
      readonly targets: readonly { readonly collection: string; readonly member: ViewMember }[];
    };

/** A readable field. */
export interface ViewField {
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
export interface ViewRelation {
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
export function viewOf(api: Api, access: AccessClass | null): View {
  const sight = look(api, access);
  const notes: Lookup<string | null> = { get: sight.note, has: () => true };
  const hooked: Lookup<string> = new Map((api.hooked ?? []).map((name) => [name, name]));
  return {
    anonymous: access?.roles.includes('public') ?? false,
    administrator: access === null || access.admin,
    note: sight.note,
    collections: api.collections.flatMap(({ descriptor: { name } }): readonly ViewCollection[] => {
      const key = sight.visible.get(name) ?? sight.writes.get(name);
      if (key === undefined) return [];
      const make = (watch: Watch) => viewSeen(name, watchedSight(sight, notes, watch), watch(hooked).has(name));
      return [viewsOf(key, [sight.visible, sight.links, sight.allLinks, sight.writes, notes, hooked], null, make)];
    }),
  };
}

const viewsOf = createMemory<ViewCollection>();

function watchedSight(sight: Sight, notes: Lookup<string | null>, watch: Watch): Sight {
  const read = watch(notes);
  return {
    visible: watch(sight.visible),
    links: watch(sight.links),
    allLinks: watch(sight.allLinks),
    writes: watch(sight.writes),
    note: (text) => (text === null ? null : (read.get(text) ?? null)),
  };
}

/** A collection of which something is seen. */
function viewSeen(name: string, sight: Sight, hooked: boolean): ViewCollection {
  const seen = sight.visible.get(name);
  if (seen !== undefined) return oneOf(seen.api, { ...viewCollection(seen, sight), hooked });
  const written = sight.writes.get(name);
  if (written === undefined) throw new Error(`Nothing is seen of ${name}.`);
  return oneOf(written.seen.api, { ...unreadCollection(written.seen.api, written.names, sight), hooked });
}

/** Classes that see the same of a collection have one view of it, so what is printed of it is printed once. */
const oneOf = createInterning<ViewCollection>();

/** A collection that can only be written. */
function unreadCollection(api: ApiCollection, names: DocumentNames, sight: Sight): Omit<ViewCollection, 'hooked'> {
  return {
    name: api.descriptor.name,
    readable: false,
    singleton: api.descriptor.singleton,
    writes: viewWrites(api, sight, new Set()),
    names,
    note: sight.note(api.note),
    deprecated: reasonOf(api, sight),
    operations: new Set(api.operations.map(({ kind }) => kind)),
    key: [],
    fields: [],
    relations: [],
  };
}

function viewCollection(seen: Seen, sight: Sight): Omit<ViewCollection, 'hooked'> {
  const { api, readable } = seen;
  const { name, key } = api.descriptor;
  const shown = api.fields.filter(({ descriptor }) => readable.has(descriptor.name));
  const fields = shown.map((field) => viewField(field, seen, sight));
  const inOrder = key.flatMap((part) => fields.filter((field) => field.name === part));
  const fieldNames = new Set(api.descriptor.fields.map((field) => field.name));
  const relations = api.descriptor.relations.filter(
    (candidate) => readable.has(candidate.name) && !fieldNames.has(candidate.name),
  );
  return {
    name,
    readable: true,
    singleton: api.descriptor.singleton,
    writes: viewWrites(api, sight, readable),
    names: seen.names,
    note: sight.note(api.note),
    deprecated: reasonOf(api, sight),
    operations: new Set(api.operations.map(({ kind }) => kind)),
    key: inOrder.length === key.length ? inOrder : [],
    fields,
    relations: relations.flatMap((relation) => viewRelation(relation, seen, sight)),
  };
}

function viewField(field: ApiField, seen: Seen, sight: Sight): ViewField {
  const { descriptor, note, values } = field;
  const { name, nullable } = descriptor;
  const target = manyToOne(name, seen, sight);
  const items = target === null ? linkedItems(name, seen, sight) : [target];
  // The target of a link can be missing, or of a hidden collection.
  const linked = target === null && items.length > 0;
  return {
    name,
    note: sight.note(note),
    deprecated: reasonOf(field, sight),
    descriptor,
    values: values !== null && naming(name, values, seen.api, sight) ? null : values,
    // Before its first write a singleton reads as its defaults.
    nullable: nullable || seen.api.descriptor.singleton || isMasked(seen, name) || linked || items.some(isPartial),
    items: items.map(({ names }) => names),
    filtered: target?.names ?? null,
  };
}

/** The visible collection that the many-to-one of a field reads. */
function manyToOne(field: string, { api }: Seen, { visible }: Sight): Seen | null {
  const relation = api.descriptor.relations.find((candidate) => candidate.kind === 'm2o' && candidate.field === field);
  return (relation && visible.get(relation.target)) ?? null;
}

/** The visible collections whose items a field of a link collection holds. */
function linkedItems(field: string, { api }: Seen, { links, visible }: Sight): readonly Seen[] {
  const relations = (links.get(api.descriptor.name) ?? []).filter(({ itemField }) => itemField === field);
  const names = new Set(relations.flatMap(({ allowed }) => allowed));
  return [...names].flatMap((name) => visible.get(name) ?? []);
}

function viewRelation(relation: RelationDescriptor, seen: Seen, sight: Sight): readonly ViewRelation[] {
  const { visible } = sight;
  const target = visible.get(relation.target);
  if (!target) return [];
  const { key, fields } = target.api.descriptor;
  const optional = relation.kind === 'm2o' && (relation.nullable || isPartial(target));
  const allowed = relation.kind === 'm2a' ? relation.allowed : [];
  return [
    {
      name: relation.name,
      deprecated: reasonOf(seen.api.relations.find(({ descriptor }) => descriptor === relation) ?? {}, sight),
      kind: relation.kind,
      single: relation.kind === 'o2m' && relation.single === true,
      nullable: optional || isMasked(seen, relation.name),
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
