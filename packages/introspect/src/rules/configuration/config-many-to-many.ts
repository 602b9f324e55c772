import { collectionsByName, manyToOnesOf } from '../../passes/lookup.ts';
import type { Rule } from '../rule.ts';
import { unknownField } from './config-fields.ts';
import { unknownCollections } from './config-many-to-any.ts';
import { configError, unknownName } from './config-problem.ts';

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
