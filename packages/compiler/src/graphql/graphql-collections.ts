/** View of an access class → the facts of its schema: collections with the names of their types, and links. */
import {
  type CollectionDescriptor,
  type GraphqlTypeNames,
  graphqlLinks,
  graphqlTypeNames,
  type ManyToAny,
} from '@tablewright/runtime/language';
import type { Api } from '../api.ts';
import type { Lookup } from '../cache/memo-cache.ts';
import { createFacts, createInterning } from '../cache/same.ts';
import type { RoleCollection, RoleView } from '../role-view/role-view.ts';

export interface GraphqlCollection {
  readonly view: RoleCollection;
  readonly descriptor: CollectionDescriptor;
  readonly types: GraphqlTypeNames;
  /** The many-to-any relations whose link rows these are, those in the schema only. */
  readonly links: readonly ManyToAny[];
  /**
   * The field that holds the item of a link row, and the collections that it can be read from. Null where there are
   * none, and where several relations have the same link rows, because none alone decides about the item then.
   */
  readonly item: { readonly field: string; readonly targets: readonly string[] } | null;
}

/** Everything that is in the schema. */
export interface GraphqlCollections {
  readonly view: RoleView;
  /** True if lists can be paged through. */
  readonly connections: boolean;
  /** By API name, in the order of the Api. */
  readonly collections: ReadonlyMap<string, GraphqlCollection>;
}

/** Collections that the types of one collection may refer to. */
export interface Referables {
  readonly collections: Lookup<GraphqlCollection>;
}

/** Gathers what a schema is printed from. */
export function graphqlCollectionsOf(api: Api, view: RoleView): GraphqlCollections {
  const descriptors = new Map(api.collections.map(({ descriptor }) => [descriptor.name, descriptor]));
  const views = new Map(view.collections.map((collection) => [collection.name, collection]));
  const all = graphqlLinks([...descriptors.values()]);
  const links = visibleLinks(view.collections, descriptors);
  const isReadable = (name: string): boolean =>
    views.get(name)?.readable === true && descriptors.get(name)?.key.length === 1;
  const shown = view.collections.flatMap((collection): readonly (readonly [string, GraphqlCollection])[] => {
    const descriptor = descriptors.get(collection.name);
    if (descriptor === undefined) return [];
    const collectionLinks = links.get(collection.name) ?? [];
    const alone = all.get(collection.name)?.length === 1;
    const item = alone ? itemOf(collection, collectionLinks[0], isReadable) : null;
    return [
      [
        collection.name,
        internCollection(collection, {
          view: collection,
          descriptor,
          types: typesOf(collection, () => graphqlTypeNames(collection.name)),
          links: collectionLinks,
          item,
        }),
      ],
    ];
  });
  return { view, connections: api.connections === true, collections: new Map(shown) };
}

const internCollection = createInterning<GraphqlCollection>();
const typesOf = createFacts<RoleCollection, GraphqlTypeNames>();

/** Reason why a field should not be used any more: because of itself, or of the collection that it leads to. */
export function deprecationOf(
  { deprecated }: { readonly deprecated: string | null },
  target: { readonly collection: string } | null,
  { collections }: Referables,
): string | null {
  return deprecated ?? (target && collections.get(target.collection)?.view.deprecated) ?? null;
}

function visibleLinks(
  views: readonly RoleCollection[],
  descriptors: ReadonlyMap<string, CollectionDescriptor>,
): ReadonlyMap<string, readonly ManyToAny[]> {
  const visible = views.flatMap(({ name, relations }) => {
    const names = new Set(relations.map((relation) => relation.name));
    const fieldRelations = descriptors.get(name)?.relations ?? [];
    return fieldRelations.filter((relation) => relation.kind === 'm2a').filter((relation) => names.has(relation.name));
  });
  return Map.groupBy(visible, ({ target }) => target);
}

/** A link row tells its item by two fields, and both have to be readable. */
function itemOf(
  { fields }: RoleCollection,
  link: ManyToAny | undefined,
  isReadable: (collection: string) => boolean,
): GraphqlCollection['item'] {
  if (link === undefined) return null;
  const names = new Set(fields.map(({ name }) => name));
  const targets = link.allowed.filter(isReadable);
  const named = names.has(link.itemField) && names.has(link.collectionField);
  return named && targets.length > 0 ? { field: link.itemField, targets } : null;
}
