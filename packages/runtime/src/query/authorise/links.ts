import type { ManyToAny, RelationDescriptor } from '../../language/index.ts';
import type { CollectionScope, FieldScope, Scope } from '../../sql/scope.ts';

const scoped = 'item:';

/** The many-to-any whose link rows a relation leads to. */
export function linkOf(relation: RelationDescriptor): ManyToAny | undefined {
  return relation.kind === 'm2a' ? relation : undefined;
}

/** True if a name of a link row stands for the item it leads to: `item`, or `item:<collection>`. */
export function isItemName(link: ManyToAny, name: string): boolean {
  return name === 'item' || name === link.itemField || name.startsWith(scoped);
}

/** The collection of `item:<collection>`; undefined for other names. */
export function scopedCollection(name: string): string | undefined {
  return name.startsWith(scoped) ? name.slice(scoped.length) : undefined;
}

/**
 * The collections whose items can be read through a link row: allowed ones that the caller can read, with a key of one
 * field. None when the caller cannot read which item a link row names.
 */
export function itemCollections(scope: Scope, links: CollectionScope, link: ManyToAny): readonly CollectionScope[] {
  if (itemKey(links, link) === undefined || links.fields.get(link.collectionField) === undefined) return [];
  return link.allowed.flatMap((name) => {
    const collection = scope.collections.get(name);
    return collection === undefined || collection.descriptor.key.length !== 1 ? [] : collection;
  });
}

/** The field of a link row that holds the key of its item. */
export function itemKey(links: CollectionScope, link: ManyToAny): FieldScope | undefined {
  return links.fields.get(link.itemField);
}
