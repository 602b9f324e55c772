import type { CompiledApi } from '../language/index.ts';

/** The fields that an access class may update by some rule: by class, by collection. */
export type UpdatableNames = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

/** Works them out. A collection that a class may not update at all has none. */
export function updatableNames({ access }: Pick<CompiledApi, 'access'>): UpdatableNames {
  return new Map(
    access.map(({ name, collections }) => [
      name,
      new Map(
        collections.map(({ collection, update = [] }) => [collection, new Set(update.flatMap(({ fields }) => fields))]),
      ),
    ]),
  );
}
