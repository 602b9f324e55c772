import { inverseOf, languageOf } from '../../passes/declarations/declare-translations.ts';
import { collectionsByName } from '../../passes/lookup.ts';
import type { Rule } from '../rule.ts';
import { unknownCollections } from './config-many-to-any.ts';
import { configError } from './config-problem.ts';

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
