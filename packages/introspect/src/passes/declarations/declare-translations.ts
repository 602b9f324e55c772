import type { PlatformConfig, TranslationsConfig } from '../../config/config.ts';
import { sortedBy } from '../../order.ts';
import type { Collection, Relation } from '../../schema.ts';
import {
  collectionsByName,
  type ManyToOneRelation,
  manyToOnesOf,
  type OneToManyRelation,
  oneToManysOf,
} from '../lookup.ts';
import { configureRelation, relationKey } from '../relations/configure-relations.ts';

/**
 * Turns the one-to-many relations that the configuration declares as translations into such. They take the declared
 * name, and know the field of the child that names the language.
 */
export function declareTranslations(collections: readonly Collection[], config: PlatformConfig): readonly Collection[] {
  const byName = collectionsByName(collections);
  const configs = new Map(Object.entries(config.relations ?? {}));
  return (config.translations ?? []).reduce<readonly Collection[]>((present, declared) => {
    const child = byName.get(declared.child);
    const language = child === undefined ? undefined : languageOf(child, declared);
    return present.map((collection) => {
      const inverse = collection.name === declared.collection ? inverseOf(collection, declared) : undefined;
      if (inverse === undefined || language === undefined) return collection;
      const named: Relation = { ...inverse, name: declared.field, language: language.name };
      const relation = configureRelation(named, configs.get(relationKey(collection, named)) ?? {}, byName);
      return replaceRelation(collection, inverse, relation);
    });
  }, collections);
}

/** The many-to-one of the child that points at the languages. */
export function languageOf(child: Collection, { languages }: TranslationsConfig): ManyToOneRelation | undefined {
  return manyToOnesOf(child).find(({ target }) => target === languages);
}

/** The one-to-many of the translated collection that reads the child. */
export function inverseOf(collection: Collection, { child }: TranslationsConfig): OneToManyRelation | undefined {
  return oneToManysOf(collection).find(({ target }) => target === child);
}

function replaceRelation(collection: Collection, old: Relation, relation: Relation): Collection {
  const relations = collection.relations.map((other) => (other === old ? relation : other));
  return { ...collection, relations: sortedBy(relations, ({ name }) => name) };
}
