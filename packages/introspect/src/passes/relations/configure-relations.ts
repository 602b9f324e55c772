import type { PlatformConfig, RelationConfig } from '../../config/config.ts';
import { sortedBy } from '../../order.ts';
import type { Collection, Relation } from '../../schema.ts';
import { collectionsByName } from '../lookup.ts';

/** The key under which the configuration speaks of a relation: `articles.comments`. */
export function relationKey(collection: Collection, relation: Relation): string {
  return `${collection.name}.${relation.name}`;
}

/**
 * Applies names, order and removal that the configuration gives to derived relations.
 *
 * The keys are the derived names, so one rename never changes what another entry means. The name of a many-to-one over
 * one field is that field's and stays.
 */
export function configureRelations(collections: readonly Collection[], config: PlatformConfig): readonly Collection[] {
  const configs = new Map(Object.entries(config.relations ?? {}));
  const renamed = renamedManyToOnes(collections, configs);
  const byName = collectionsByName(collections);
  return collections.map((collection) => {
    const relations = collection.relations.flatMap((relation) => {
      const settings = configs.get(relationKey(collection, relation)) ?? {};
      if (settings.hidden === true) return [];
      return [configureRelation(followRename(relation, renamed), settings, byName)];
    });
    return { ...collection, relations: sortedBy(relations, ({ name }) => name) };
  });
}

/** Applies one entry of the configuration to one relation. A sort field that does not exist is left to a rule. */
export function configureRelation(
  relation: Relation,
  config: RelationConfig,
  byName: ReadonlyMap<string, Collection>,
): Relation {
  const sorted = byName.get(relation.kind === 'm2m' ? relation.junction : relation.target);
  const sort = sorted?.fields.find(({ name }) => name === config.sort)?.name;
  const named = {
    name: isFieldsOwn(relation) ? relation.name : (config.name ?? relation.name),
    ...(config.deprecated !== undefined && !isFieldsOwn(relation) && { deprecated: config.deprecated }),
  };
  if (relation.kind === 'm2o') return { ...relation, ...named };
  if (relation.kind !== 'o2m') return { ...relation, ...named, sort: sort ?? relation.sort };
  return { ...relation, ...named, sort: sort ?? relation.sort, onDeselect: config.onDeselect ?? relation.onDeselect };
}

/** True for a many-to-one whose name is that of its foreign-key field. */
export function isFieldsOwn(relation: Relation): boolean {
  return relation.kind === 'm2o' && relation.field !== null;
}

/** Derived and configured names of many-to-ones, by `collection.name`, which their inverses refer to. */
function renamedManyToOnes(
  collections: readonly Collection[],
  configs: ReadonlyMap<string, RelationConfig>,
): ReadonlyMap<string, string> {
  const names = collections.flatMap((collection) =>
    collection.relations.flatMap((relation) => {
      const key = relationKey(collection, relation);
      const name = configs.get(key)?.name;
      return relation.kind !== 'm2o' || isFieldsOwn(relation) || name === undefined ? [] : [[key, name] as const];
    }),
  );
  return new Map(names);
}

function followRename(relation: Relation, renamed: ReadonlyMap<string, string>): Relation {
  if (relation.kind !== 'o2m') return relation;
  return { ...relation, inverse: renamed.get(`${relation.target}.${relation.inverse}`) ?? relation.inverse };
}
