/** Operations that an access class can call, so that its descriptions have them. */
import type { AccessClass, CollectionDescriptor } from '@tablewright/runtime/language';
import {
  type NamedOperation,
  type Operation,
  operationsOf,
  type Resource,
  type ValueSchema,
} from '@tablewright/runtime/operations';

/** True if the class may call an operation; null stands for everything. `reads` tells if it reads a collection. */
export function mayCall(
  { access: needed }: Operation,
  access: AccessClass | null,
  reads: (collection: string) => boolean,
): boolean {
  if (typeof needed !== 'string' && needed.action === 'read') return reads(needed.collection);
  if (access === null || access.admin) return true;
  if (typeof needed === 'string') return needed !== 'administrator';
  const { action, collection, fields = [] } = needed;
  const rules = access.collections.find((candidate) => candidate.collection === collection)?.[action] ?? [];
  const granted = new Set(rules.flatMap((rule) => rule.fields));
  return rules.length > 0 && fields.every((field) => granted.has(field));
}

/** Facts of an Api that operations depend on. */
export interface SeenApi {
  readonly collections: readonly { readonly descriptor: Pick<CollectionDescriptor, 'name' | 'sort'> }[];
}

/** Facts of a role's view that operations depend on. */
export interface SeenView {
  readonly administrator: boolean;
  readonly collections: readonly {
    readonly name: string;
    readonly readable: boolean;
    readonly writes: { readonly update: { readonly fields: readonly { readonly name: string }[] } | null } | null;
  }[];
}

/** Names of collections that paths list. */
export type CollectionLists = Readonly<Record<NonNullable<ValueSchema['collections']>, readonly string[]>>;

/** Operations that a class may call, and that have a collection to name where they need one. */
export function callableOperations(
  resource: Resource,
  access: AccessClass | null,
  view: SeenView,
  lists: CollectionLists,
): readonly NamedOperation[] {
  const reads = (name: string): boolean => view.collections.some((shown) => shown.name === name && shown.readable);
  return operationsOf(resource).filter((operation) => {
    const named = Object.values(operation.input ?? {}).flatMap(({ collections }) => collections ?? []);
    return mayCall(operation, access, reads) && named.every((list) => lists[list].length > 0);
  });
}

/** Collections whose sort field can be written. */
export function sortableNames(api: SeenApi, { collections }: SeenView): readonly string[] {
  const sorts = new Map(api.collections.map(({ descriptor }) => [descriptor.name, descriptor.sort]));
  return collections
    .filter(({ name, writes }) => {
      const sort = sorts.get(name) ?? null;
      return sort !== null && writes?.update?.fields.some((field) => field.name === sort);
    })
    .map(({ name }) => name);
}
