import type { PlatformConfig } from '../../config/config.ts';
import type { Collection } from '../../schema.ts';
import { collectionsByName, manyToOnesOf } from '../lookup.ts';

/**
 * Names that the configuration gives to relations, by collection. Derived names yield to them.
 */
export function declaredNames(
  collections: readonly Collection[],
  config: PlatformConfig,
): ReadonlyMap<string, ReadonlySet<string>> {
  const byName = collectionsByName(collections);
  const names = new Map<string, Set<string>>(collections.map(({ name }) => [name, new Set<string>()]));
  for (const { collection, field } of [...(config.manyToAny ?? []), ...(config.translations ?? [])]) {
    names.get(collection)?.add(field);
  }
  for (const { junction, near, far, name, inverseName } of config.manyToMany ?? []) {
    const relations = manyToOnesOf(byName.get(junction) ?? { relations: [] });
    const owner = (field: string) => names.get(relations.find((relation) => relation.name === field)?.target ?? '');
    if (name !== undefined) owner(near)?.add(name);
    if (inverseName !== undefined) owner(far)?.add(inverseName);
  }
  return names;
}
