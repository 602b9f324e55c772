/** Mistakes in the configuration of relations and links: many-to-any, many-to-many, and translations. */

import type { ManyToAnyConfig } from '../../config/config.ts';
import type { Diagnostic } from '../../diagnostic.ts';
import { inverseOf, languageOf, linkPairs } from '../../passes/declarations/declare-relations.ts';
import { collectionsByName, manyToOnesOf } from '../../passes/lookup.ts';
import { isFieldsOwn } from '../../passes/relations/configure-relations.ts';
import type { Collection, Relation, Schema } from '../../schema.ts';
import { configError, type Rule, type RuleSources, unknownName } from '../rule.ts';
import { unknownField } from './config-fields.ts';

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

/** A many-to-any names collections and fields that exist, and items that one value identifies. */
export const configManyToAny: Rule = (schema, { config }) => {
  const byName = collectionsByName(schema.collections);
  return (config.manyToAny ?? []).flatMap((declared, index) => {
    const path = ['manyToAny', index];
    return [
      ...unknownCollections(
        path,
        [
          ['collection', declared.collection],
          ['link', declared.link],
        ],
        byName,
      ),
      ...checkLink(path, declared, byName),
      ...checkAllowed([...path, 'allowed'], declared.allowed, byName),
    ];
  });
};

type Path = readonly (string | number)[];
type Collections = ReadonlyMap<string, Collection>;

/** Reports each name of a list of `[key, name]` that is no collection. */
function unknownCollections(
  path: Path,
  names: readonly (readonly [string | number, string])[],
  byName: Collections,
): readonly Diagnostic[] {
  return names
    .filter(([, name]) => !byName.has(name))
    .map(([key, name]) => unknownName([...path, key], `There is no collection "${name}".`, name, byName.keys()));
}

function checkLink(path: Path, declared: ManyToAnyConfig, byName: Collections): readonly Diagnostic[] {
  const [collection, link] = [byName.get(declared.collection), byName.get(declared.link)];
  if (link === undefined) return [];
  const fields = [
    ['linkField', declared.linkField],
    ['collectionField', declared.collectionField],
    ['itemField', declared.itemField],
    ...(declared.sort === undefined ? [] : [['sort', declared.sort] as const]),
  ] as const;
  const names = new Set([...link.fields, ...link.relations].map(({ name }) => name));
  const unknown = fields.filter(([, name]) => !names.has(name));
  const problems = unknown.map(([key, name]) => unknownField([...path, key], name, link));
  if (link.key.length === 0) problems.push(withoutKey([...path, 'link'], link));
  const linked = collection === undefined || linkPairs(collection, link, declared.linkField) !== null;
  return linked || problems.length > 0 ? problems : [wrongLink(path, declared)];
}

function checkAllowed(path: Path, allowed: readonly string[], byName: Collections): readonly Diagnostic[] {
  if (allowed.length === 0)
    return [configError(path, 'config-many-to-any', 'The list of allowed collections is empty.')];
  const found = allowed.flatMap((name, index) => {
    const collection = byName.get(name);
    return collection === undefined || collection.key.length === 1 ? [] : [withoutKey([...path, index], collection)];
  });
  const entries = allowed.map((name, index) => [index, name] as const);
  return [...unknownCollections(path, entries, byName), ...found];
}

function withoutKey(path: Path, { name, key }: Collection): Diagnostic {
  const reason = key.length === 0 ? 'has no key' : 'has a key of several fields';
  return configError(path, 'config-many-to-any', `The collection "${name}" ${reason}, so no value can name its items.`);
}

function wrongLink(path: Path, { collection, link, linkField }: ManyToAnyConfig): Diagnostic {
  const message = `The field "${linkField}" of "${link}" does not lead to "${collection}".`;
  const hint = 'Name the field that holds the key of the item.';
  return configError([...path, 'linkField'], 'config-many-to-any', message, hint);
}

/** A declared junction exists and its two ends are two of its many-to-one relations. */
export const configManyToMany: Rule = (schema, { config }) => {
  const byName = collectionsByName(schema.collections);
  return (config.manyToMany ?? []).flatMap(({ junction, near, far, sort }, index) => {
    const path = ['manyToMany', index];
    const collection = byName.get(junction);
    if (collection === undefined) return unknownCollections(path, [['junction', junction]], byName);
    const relations = manyToOnesOf(collection).map(({ name }) => name);
    const ends = [
      ['near', near],
      ['far', far],
    ] as const;
    const unknown = ends.filter(([, name]) => !relations.includes(name));
    const isSortKnown = sort === undefined || collection.fields.some(({ name }) => name === sort);
    return [
      ...unknown.map(([key, name]) => {
        const message = `The collection "${junction}" has no many-to-one "${name}".`;
        return unknownName([...path, key], message, name, relations);
      }),
      ...(near === far ? [configError(path, 'config-many-to-many', 'Both ends are the same field.')] : []),
      ...(isSortKnown ? [] : [unknownField([...path, 'sort'], sort, collection)]),
    ];
  });
};

/** The child of a translations relation has a foreign key to the translated collection and one to the languages. */
export const configTranslations: Rule = (schema, { config }) => {
  const byName = collectionsByName(schema.collections);
  return (config.translations ?? []).flatMap((declared, index) => {
    const path = ['translations', index];
    const { collection, child, languages } = declared;
    const names = [
      ['collection', collection],
      ['child', child],
      ['languages', languages],
    ] as const;
    const unknown = unknownCollections(path, names, byName);
    const [parent, childCollection] = [byName.get(collection), byName.get(child)];
    if (unknown.length > 0 || parent === undefined || childCollection === undefined) return unknown;
    const missing = [
      ...(inverseOf(parent, declared) === undefined ? [collection] : []),
      ...(languageOf(childCollection, declared) === undefined ? [languages] : []),
    ];
    return missing.map((target) => {
      const message = `The collection "${child}" has no foreign key to "${target}" that the API shows.`;
      return configError([...path, 'child'], 'config-translations', message);
    });
  });
};
