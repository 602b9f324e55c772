import type { PlatformConfig } from '../../config/config.ts';
import type { Collection } from '../../schema.ts';
import { relationKey } from './configure-relations.ts';

/** Leaves out the many-to-ones that the configuration hides, before anything is derived from them. */
export function hideManyToOne(collections: readonly Collection[], config: PlatformConfig): readonly Collection[] {
  const configs = new Map(Object.entries(config.relations ?? {}));
  return collections.map((collection) => ({
    ...collection,
    relations: collection.relations.filter(
      (relation) => configs.get(relationKey(collection, relation))?.hidden !== true,
    ),
  }));
}
