/** Facts that the files of a client are printed from. */
import type { AccessClass, CollectionDescriptor } from '@tablewright/runtime/language';
import type { Api } from '../api.ts';
import type { Lookup } from '../cache/remember.ts';
import { createInterning } from '../cache/same.ts';
import type { RoleCollection, RoleView } from '../role-view/role-view.ts';
import { type ClientNames, nameClient } from './names.ts';

/** A collection with its names. */
export interface ClientCollection {
  readonly view: RoleCollection;
  readonly names: ClientNames;
  readonly descriptor: CollectionDescriptor;
  /** True if the class can read every item that it writes, independent of values. */
  readonly echoes: boolean;
}

/** The collections of a client by API name, in the order of the Api. */
export type ClientCollections = ReadonlyMap<string, ClientCollection>;

/** Collections that the types of one collection may refer to. */
export type ReferableCollections = Lookup<ClientCollection>;

const internCollection = createInterning<ClientCollection>();

/** Gathers what an access class sees. */
export function clientCollectionsOf(api: Api, access: AccessClass, view: RoleView): ClientCollections {
  const names = nameClient(view);
  const descriptors = new Map(api.collections.map(({ descriptor }) => [descriptor.name, descriptor]));
  const rules = new Map(access.collections.map((granted) => [granted.collection, granted.read ?? []]));
  return new Map(
    view.collections.flatMap((collection): readonly (readonly [string, ClientCollection])[] => {
      const descriptor = descriptors.get(collection.name);
      const collectionNames = names.get(collection.name);
      if (descriptor === undefined || collectionNames === undefined) return [];
      const everyRow = access.admin || (rules.get(collection.name) ?? []).some(({ where }) => isAlways(where));
      // Views and triggers decide by themselves what is there after a write.
      const echoes = collection.readable && everyRow && !descriptor.opaque && !descriptor.amended;
      return [
        [
          collection.name,
          internCollection(collection, { view: collection, names: collectionNames, descriptor, echoes }),
        ],
      ];
    }),
  );
}

function isAlways(where: { readonly kind: string; readonly of?: unknown }): boolean {
  return where.kind === 'and' && Array.isArray(where.of) && where.of.length === 0;
}
