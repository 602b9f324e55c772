/** Operations that an access class can call, so that its descriptions have them. */
import type { AccessClass, CollectionDescriptor } from '@tablewright/runtime/language';
import {
  type NamedOperation,
  type Operation,
  operationsOf,
  type Resource,
  type ValueSchema,
} from '@tablewright/runtime/operations';
import type { Api } from '../api.ts';

/** True if the class may call an operation; null stands for everything. `find` gives a collection as the class sees it. */
export function mayCall(
  { access: needed }: Operation,
  access: AccessClass | null,
  find: (collection: string) => Pick<CallableCollection, 'readable'> | undefined,
): boolean {
  if (typeof needed !== 'string' && needed.action === 'read') return find(needed.collection)?.readable === true;
  if (access === null || access.admin) return typeof needed === 'string' || find(needed.collection) !== undefined;
  if (typeof needed === 'string') return needed !== 'administrator';
  const { action, collection, fields = [] } = needed;
  const rules = access.collections.find((candidate) => candidate.collection === collection)?.[action] ?? [];
  const granted = new Set(rules.flatMap((rule) => rule.fields));
  return rules.length > 0 && fields.every((field) => granted.has(field));
}

export interface CallableApi {
  readonly collections: readonly {
    readonly descriptor: Pick<CollectionDescriptor, 'name' | 'sort' | 'system' | 'singleton'>;
  }[];
}

/** Facts of a role's view that operations depend on. */
export interface CallableView {
  readonly administrator: boolean;
  readonly collections: readonly CallableCollection[];
}

interface CallableUpdate {
  readonly fields: readonly { readonly name: string }[];
}

interface CallableCollection {
  readonly name: string;
  /** Name of the component that its items have. */
  readonly names: { readonly item: string };
  readonly readable: boolean;
  readonly writes: { readonly create: object | null; readonly update: CallableUpdate | null } | null;
}

/** Names of collections that paths list. */
export type CollectionLists = Readonly<Record<NonNullable<ValueSchema['collections']>, readonly string[]>>;

/** Operations that a class may call, and that have a collection to name where they need one. */
export function callableOperations(
  resource: Resource,
  access: AccessClass | null,
  view: CallableView,
  lists: CollectionLists,
): readonly NamedOperation[] {
  const find = (name: string): CallableCollection | undefined => view.collections.find((shown) => shown.name === name);
  return operationsOf(resource).filter((operation) => {
    const named = Object.values(operation.input ?? {}).flatMap(({ collections }) => collections ?? []);
    return mayCall(operation, access, find) && named.every((list) => lists[list].length > 0);
  });
}

/** Collections that operations of a class may name. */
export function collectionLists({ collections: all }: CallableApi, { collections }: CallableView): CollectionLists {
  const descriptors = new Map(all.map(({ descriptor }) => [descriptor.name, descriptor]));
  const hasFiles = descriptors.has('platform_files');
  const files = collections.find(({ name }) => name === 'platform_files');
  const namesOf = (holds: (collection: CallableCollection) => boolean): readonly string[] =>
    collections.filter(holds).map(({ name }) => name);
  return {
    sortable: namesOf(({ name, writes }) => {
      const sort = descriptors.get(name)?.sort ?? null;
      return sort !== null && writes?.update?.fields.some((field) => field.name === sort) === true;
    }),
    importable: namesOf(({ name, writes }) => {
      const { system = false, singleton = false } = descriptors.get(name) ?? {};
      return hasFiles && !system && !singleton && writes?.create != null && writes.update !== null;
    }),
    exportable: files?.writes?.create ? namesOf(({ readable }) => readable) : [],
  };
}

/** True if an API has users, so that callers can sign in. */
export function hasUsers({ collections }: Api): boolean {
  return collections.some(({ descriptor }) => descriptor.system === true && descriptor.name === 'platform_users');
}

/** True if administrators can change the model while it is served: the platform's tables declare it. */
export function changesModel({ collections }: Api): boolean {
  return collections.some(({ descriptor }) => descriptor.name === 'platform_collections');
}
