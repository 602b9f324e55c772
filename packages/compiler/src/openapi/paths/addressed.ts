/** Facts that the paths of a collection follow from, and nothing else of it. */
import { systemCollection } from '@tablewright/runtime/language';
import type { Operation } from '../../api.ts';
import { createFacts } from '../../cache/same.ts';
import type { DocumentNames } from '../../role-view/names.ts';
import type { RoleCollection, RoleField, RoleUpsert } from '../../role-view/role-view.ts';
import { isGrouped } from '../components/aggregation.ts';

/** A collection as its paths show it. */
export interface Addressed extends AddressedFacts {
  readonly names: DocumentNames;
  /** `/items/orders` */
  readonly path: string;
}

/** The facts beside names, as plain data. Where collections share them, their paths differ in names only. */
export interface AddressedFacts {
  readonly operations: readonly Operation['kind'][];
  readonly readable: boolean;
  readonly singleton: boolean;
  /** True if reads can ask for archived items. */
  readonly archived: boolean;
  readonly deprecated: boolean;
  /** In key order; empty when it cannot be read. */
  readonly key: readonly AddressedKeyField[];
  readonly grouped: boolean;
  /** Null where nothing can be written. */
  readonly writes: AddressedWrites | null;
}

export type AddressedKeyField = Pick<RoleField, 'name' | 'values' | 'descriptor'>;

/** Writes that the paths offer. */
export interface AddressedWrites {
  /** In key order; empty where payloads cannot name it. */
  readonly key: readonly AddressedKeyField[];
  readonly create: boolean;
  readonly update: boolean;
  readonly delete: boolean;
  /** True if archived items can be removed for good. */
  readonly purge: boolean;
  /** The unique keys by which an item is made or changed; null for none. */
  readonly conflicts: RoleUpsert['keys'] | null;
  /** Fields that a form may give beside a content; null where items have none. */
  readonly forms: { readonly create: readonly string[]; readonly update: readonly string[] } | null;
}

/** Takes of a collection what its paths, and components for them, are made of. */
export function addressed(collection: RoleCollection): Addressed {
  return addressedOf(collection, () => takeFacts(collection));
}

const addressedOf = createFacts<RoleCollection, Addressed>();

function takeFacts(collection: RoleCollection): Addressed {
  const { name, names, operations, readable, singleton, archived, deprecated, key, writes } = collection;
  const path = systemCollection(name)?.path ?? `/items/${encodeURIComponent(name.toWellFormed())}`;
  return {
    names,
    path,
    operations: [...operations],
    readable,
    singleton,
    archived,
    deprecated: deprecated !== null,
    key: key.map(keyField),
    grouped: isGrouped(collection),
    writes: writes && {
      key: writes.key.map(keyField),
      create: writes.create !== null,
      update: writes.update !== null,
      delete: writes.delete,
      purge: writes.purge,
      conflicts: writes.upsert?.keys ?? null,
      forms: uploadFields(collection),
    },
  };
}

function keyField({ name, values, descriptor }: AddressedKeyField): AddressedKeyField {
  return { name, values, descriptor };
}

/** Fields of files that a form may set; the type of an upload follows from its content. */
const formFields = ['filename_download', 'title', 'folder', 'embed', 'description', 'location', 'tags'];

/** The fields that a form may give beside a content; null for other collections. */
export function uploadFields({ name, writes }: RoleCollection): AddressedWrites['forms'] {
  if (name !== files) return null;
  const granted = (action: 'create' | 'update'): readonly string[] => {
    const fields = new Set(writes?.[action]?.fields.map((field) => field.name));
    return formFields.filter((field) => fields.has(field));
  };
  return { create: granted('create'), update: granted('update') };
}

export const files = 'platform_files';
