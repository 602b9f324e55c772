/** Declarations of links: many-to-any relations, and translations. */
import type { ManyToAnyConfig, PlatformConfig, TranslationsConfig } from '../../config/config.ts';
import { sortedBy } from '../../order.ts';
import type { Collection, JoinPair, Relation } from '../../schema.ts';
import {
  collectionsByName,
  type ManyToOneRelation,
  manyToOnesOf,
  type OneToManyRelation,
  oneToManysOf,
  reversed,
  withRelations,
} from '../lookup.ts';
import { configureRelation, relationKey } from '../relations/configure-relations.ts';

/** Adds the many-to-any relations of the configuration. Declarations that name what does not exist are left to a rule. */
export function declareManyToAny(collections: readonly Collection[], config: PlatformConfig): readonly Collection[] {
  const byName = collectionsByName(collections);
  return collections.map((collection) => {
    const declared = (config.manyToAny ?? []).filter((item) => item.collection === collection.name);
    return withRelations(
      collection,
      declared.flatMap((item) => relationOf(item, collection, byName)),
    );
  });
}

function relationOf(
  config: ManyToAnyConfig,
  collection: Collection,
  byName: ReadonlyMap<string, Collection>,
): readonly Relation[] {
  const link = byName.get(config.link);
  const on = link === undefined ? null : linkPairs(collection, link, config.linkField);
  const names = new Set(link?.fields.map(({ name }) => name));
  const allowed = config.allowed.filter((name) => byName.has(name));
  const complete = names.has(config.collectionField) && names.has(config.itemField) && allowed.length > 0;
  if (link === undefined || on === null || !complete || link.key.length === 0) return [];
  return [
    {
      kind: 'm2a',
      name: config.field,
      target: link.name,
      on,
      collectionField: config.collectionField,
      itemField: config.itemField,
      allowed,
      sort: config.sort !== undefined && names.has(config.sort) ? config.sort : null,
    },
  ];
}

/**
 * How an item finds its link rows: through the foreign key of `linkField`; a plain field holds the key of the item.
 *
 * Null when the field leads elsewhere or cannot hold the key.
 */
export function linkPairs(collection: Collection, link: Collection, linkField: string): readonly JoinPair[] | null {
  const relation = manyToOnesOf(link).find(({ name }) => name === linkField);
  if (relation !== undefined) return relation.target === collection.name ? reversed(relation.on) : null;
  const from = collection.key.length === 1 ? columnOf(collection, collection.key[0]) : undefined;
  const to = columnOf(link, linkField);
  return from === undefined || to === undefined ? null : [{ from, to }];
}

function columnOf(collection: Collection, name: string | undefined): string | undefined {
  return collection.fields.find((field) => field.name === name)?.column;
}

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
