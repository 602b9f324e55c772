import { collectionsByName } from '../../passes/lookup.ts';
import { isFieldsOwn } from '../../passes/relations/configure-relations.ts';
import type { Collection, Relation, Schema } from '../../schema.ts';
import type { Rule, RuleSources } from '../rule.ts';
import { unknownField } from './config-fields.ts';
import { configError, unknownName } from './config-problem.ts';

/** Every key under `relations` is a relation, and what it says applies to that kind. */
export const configRelations: Rule = (schema, sources) =>
  Object.entries(sources.config.relations ?? {}).flatMap(([key, config]) => {
    const path = ['relations', key];
    if (!sources.relationKeys.includes(key)) {
      return [unknownName(path, `There is no relation "${key}".`, key, sources.relationKeys)];
    }
    const relation = findRelation(schema, sources, key);
    if (relation === undefined) return [];
    const sorted = sortedCollection(schema, relation);
    const isSortKnown = config.sort === undefined || sorted?.fields.some(({ name }) => name === config.sort);
    return [
      ...(config.sort !== undefined && sorted !== undefined && isSortKnown !== true
        ? [unknownField([...path, 'sort'], config.sort, sorted)]
        : []),
      ...(config.sort !== undefined && sorted === undefined ? [doesNotApply(path, 'sort', 'a to-many relation')] : []),
      ...(config.onDeselect !== undefined && relation.kind !== 'o2m'
        ? [doesNotApply(path, 'onDeselect', 'a one-to-many relation')]
        : []),
      ...(config.name !== undefined && isFieldsOwn(relation) ? [namedByField(path)] : []),
      ...(config.deprecated !== undefined && isFieldsOwn(relation) ? [deprecatedByField(path)] : []),
    ];
  });

/** The relation of a key: as configured, else by its derived name. Undefined when the configuration hides it. */
function findRelation(schema: Schema, { config }: RuleSources, key: string): Relation | undefined {
  const name = new Map(Object.entries(config.relations ?? {})).get(key)?.name;
  const pairs = schema.collections.flatMap((collection) =>
    collection.relations.map((relation) => ({ collection: collection.name, relation })),
  );
  const isNamed = (collection: string, requested: string) => key.startsWith(`${collection}.`) && requested === name;
  const found = pairs.find(({ collection, relation }) => isNamed(collection, relation.name));
  const plain = pairs.find(({ collection, relation }) => `${collection}.${relation.name}` === key);
  return (found ?? plain)?.relation;
}

function sortedCollection(schema: Schema, relation: Relation): Collection | undefined {
  const byName = collectionsByName(schema.collections);
  if (relation.kind === 'm2o') return undefined;
  return byName.get(relation.kind === 'm2m' ? relation.junction : relation.target);
}

function doesNotApply(path: readonly string[], key: string, kind: string) {
  return configError([...path, key], 'config-relation', `"${key}" applies to ${kind} only.`);
}

function deprecatedByField(path: readonly string[]) {
  const hint = 'Deprecate the field: collections: { …: { fields: { …: { deprecated: … } } } }.';
  return configError([...path, 'deprecated'], 'config-relation', 'A many-to-one is deprecated as its field.', hint);
}

function namedByField(path: readonly string[]) {
  const hint = 'Rename the field: collections: { …: { fields: { …: { name: … } } } }.';
  return configError([...path, 'name'], 'config-relation', 'A many-to-one is named as its field.', hint);
}
