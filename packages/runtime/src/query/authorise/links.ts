import { forbidden } from '../../errors.ts';
import type { ManyToAny, RelationDescriptor } from '../../language/index.ts';
import { resolveCall } from '../../sql/calls.ts';
import type { CollectionScope, FieldScope, Scope } from '../../sql/scope.ts';
import type { Path, RequestedName } from './field-paths.ts';

const scoped = 'item:';

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

/** The collections whose items can be read through a link row, with a key of one field; none for a hidden link. */
export function itemCollections(scope: Scope, links: CollectionScope, link: ManyToAny): readonly CollectionScope[] {
  if (itemKey(links, link) === undefined || links.fields.get(link.collectionField) === undefined) return [];
  return link.allowed.flatMap((name) => {
    const collection = scope.collections.get(name);
    return collection === undefined || collection.descriptor.key.length !== 1 ? [] : collection;
  });
}

export function itemKey(links: CollectionScope, link: ManyToAny): FieldScope | undefined {
  return links.fields.get(link.itemField);
}

/**
 * Sorts the paths below `item` by collection: those of `item:<collection>` belong to that one, those of `item` to every
 * collection that has their first name.
 *
 * Throws FORBIDDEN for a collection that is not allowed or hidden, and for a path that no collection has.
 */
export function requestedItems(
  scope: Scope,
  links: CollectionScope,
  link: ManyToAny,
  requested: readonly (readonly [string, RequestedName])[],
) {
  const targets = itemCollections(scope, links, link).map((target) => ({ target, paths: [] as Path[] }));
  for (const [name, what] of requested) {
    const only = scopedCollection(name);
    const matching = targets.filter(({ target }) => only === undefined || target.descriptor.name === only);
    if (only !== undefined && matching.length === 0 && !what.soft) throw forbidden();
    for (const path of what.below) {
      const takers = only === undefined ? matching.filter(({ target }) => has(target, path)) : matching;
      if (takers.length === 0 && !path.soft) throw forbidden();
      for (const { paths } of takers) paths.push(path);
    }
  }
  return {
    /** True if the item itself was named, so that its key stands where nothing is nested. */
    own: requested.some(([, what]) => what.own),
    soft: requested.every(([, what]) => what.soft),
    /** Collections with paths, in the order of the relation. */
    below: targets.filter(({ paths }) => paths.length > 0),
  };
}

function has(target: CollectionScope, { names: [name = '', ...rest] }: Path): boolean {
  if (name === '*' || target.relations.has(name)) return true;
  if (rest.length > 0) return false;
  return target.fields.has(name) || typeof resolveCall(target, name)?.found === 'object';
}
