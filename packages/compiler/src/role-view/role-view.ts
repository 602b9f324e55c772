/** The API as one access class has it. `build-role-view.ts` makes it; everything that describes the API prints it. */
import type { GraphqlEnum } from '@tablewright/introspect/schema';
import type {
  FieldDescriptor,
  FunctionDescriptor,
  PortableType,
  RelationDescriptor,
} from '@tablewright/runtime/language';
import type { ApiEnum, MemberEnum, Operation } from '../api.ts';
import { createFacts } from '../cache/same.ts';
import type { DocumentNames } from './names.ts';
import type { NoteReader } from './notes.ts';

/** Contents of a document. */
export interface RoleView {
  /** Requests without a token are of this class. */
  readonly anonymous: boolean;
  readonly administrator: boolean;
  /** Tells a text of the database, or nothing where it names what is hidden. */
  readonly note: NoteReader;
  /** In the order of the Api. */
  readonly collections: readonly RoleCollection[];
  /** Functions of the database that it may call, sorted by name. */
  readonly functions: readonly RoleFunction[];
}

export interface RoleFunction extends Pick<FunctionDescriptor, 'name' | 'reads' | 'arguments' | 'returns'> {
  readonly note: string | null;
  /** Collection whose items it returns, where these can be read. */
  readonly items: RoleCollection | null;
  /** GraphQL enums of its arguments and of members of its result. */
  readonly graphqlEnums: readonly MemberEnum[];
}

/** A collection of which something can be read or written. */
export interface RoleCollection {
  readonly name: string;
  /** False when it can only be written. */
  readonly readable: boolean;
  readonly singleton: boolean;
  /** True if reads can ask for archived items. */
  readonly archived: boolean;
  readonly writes: RoleWrites | null;
  readonly names: DocumentNames;
  readonly note: string | null;
  /** Reason why it should not be used any more; null for what may be, here and below. Empty where the reason must not be shown. */
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
export type RoleKeyField = Pick<RoleField, 'name' | 'note' | 'deprecated' | 'descriptor' | 'values' | 'valuesType'>;

export interface RoleWrites {
  /** In key order; empty where payloads cannot name it: it can neither be read nor written. */
  readonly key: readonly RoleKeyField[];
  readonly create: RolePayload | null;
  readonly update: RolePayload | null;
  readonly delete: boolean;
  /** True if DELETE archives items and can be told to remove them for good. */
  readonly purge: boolean;
  /** Null where no unique key can be named by which an item is made or changed. */
  readonly upsert: RoleUpsert | null;
}

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

export interface RoleInput extends RoleKeyField {
  readonly nullable: boolean;
  /** For a many-to-one: the item that may stand in the place of its key. */
  readonly member: NestedItem | null;
  /** Set where it names an item of any collection, by its key in any form that bodies have. */
  readonly itemKey?: true;
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
      readonly collection: string;
      readonly link: NestedItem;
      readonly removes: boolean;
      /** Fields that `collection`, `item` and the relation stand for. */
      readonly named: readonly string[];
      readonly targets: readonly { readonly collection: string; readonly member: NestedItem }[];
    };

export interface RoleField {
  readonly name: string;
  readonly note: string | null;
  readonly deprecated: string | null;
  readonly descriptor: FieldDescriptor;
  /** Allowed values of the field, or of an array's elements; null when there is no list. */
  readonly values: readonly string[] | null;
  /** Names of their type; null when there is no list. */
  readonly valuesType: ValuesType | null;
  /** Also true where null stands for a cell or item that the caller may not read. */
  readonly nullable: boolean;
  /** The same of the item that its many-to-one reads in its place, which can be missing where its key is not; null without. */
  readonly itemNullable: boolean | null;
  /** The collections whose items can stand in its place: of its many-to-one, or those that a many-to-any links. */
  readonly items: readonly DocumentNames[];
  /** The collection that its filter leads on to. */
  readonly filtered: DocumentNames | null;
}

interface ValuesType {
  /** `ArticleStatus` */
  readonly name: string;
  /** The enum type that it is; null where the type is the field's own. */
  readonly enumType: ApiEnum | null;
  /** The enum that it is in GraphQL; null where it is something else. */
  readonly graphqlEnum: GraphqlEnum | null;
}

/** A readable relation to many items, or to one through several fields. */
export interface RoleRelation {
  readonly name: string;
  readonly deprecated: string | null;
  readonly kind: RelationDescriptor['kind'];
  /** A list of at most one item. */
  readonly single: boolean;
  readonly nullable: boolean;
  /** The same of the item of a many-to-one, which can be missing where its key is not; null for other kinds. */
  readonly itemNullable: boolean | null;
  readonly target: DocumentNames;
  /** The fields of the target's key in key order, for their types: they may be hidden. */
  readonly targetKey: readonly FieldDescriptor[];
  /** True if null can stand in the place of a key, because part of it is hidden on some rows. */
  readonly maskedKey: boolean;
  /** The collections that a many-to-any links. */
  readonly linked: readonly { readonly collection: string; readonly names: DocumentNames }[];
}

/** True if some field of a class is of a type, whether it is read or written. */
export function hasType({ collections }: RoleView, type: PortableType): boolean {
  return collections.some((collection) => typesOf(collection, () => findTypes(collection)).has(type));
}

const typesOf = createFacts<RoleCollection, ReadonlySet<string>>();

function findTypes({ fields, writes }: RoleCollection): ReadonlySet<string> {
  const all = [fields, writes?.create?.fields ?? [], writes?.update?.fields ?? []];
  return new Set(all.flatMap((some) => some.map(({ descriptor }) => descriptor.type)));
}
