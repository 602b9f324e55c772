/** Declarations of the platform's own tables about relations and links: many-to-any relations, and translations. */
import type { DeclaredModel, DeclaredRow } from '@tablewright/runtime/language';
import type {
  ManyToAnyConfig,
  ManyToManyConfig,
  PlatformConfig,
  RelationConfig,
  TranslationsConfig,
} from '../../config/config.ts';
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
import { namesOf, textOf } from './declare-collections.ts';

/** Adds the relations whose items are of several collections: other names yield to theirs. */
export function declareAnyItems(
  config: PlatformConfig,
  model: DeclaredModel,
  keyed: readonly Collection[],
): PlatformConfig {
  const byName = collectionsByName(keyed);
  const configured = new Set((config.manyToAny ?? []).map(({ link, itemField }) => `${link}.${itemField}`));
  const added = model.relations.flatMap((row): readonly ManyToAnyConfig[] => {
    const [link = '', itemField = '', collectionField = '', linkField = ''] = [
      'many_collection',
      'many_field',
      'one_collection_field',
      'junction_field',
    ].map((name) => textOf(row, name));
    const field = textOf(row, 'one_field') ?? textOf(rowOf(model, link, linkField) ?? {}, 'one_field');
    const owner = manyToOnesOf(byName.get(link) ?? { relations: [] }).find(({ name }) => name === linkField)?.target;
    if (!isAnyItem(row) || configured.has(`${link}.${itemField}`) || owner === undefined || field === undefined)
      return [];
    const sort = textOf(row, 'sort_field');
    const allowed = namesOf(row, 'one_allowed_collections');
    return [{ collection: owner, field, link, linkField, collectionField, itemField, allowed, ...(sort && { sort }) }];
  });
  return added.length === 0 ? config : { ...config, manyToAny: [...(config.manyToAny ?? []), ...added] };
}

/** Adds what is said about relations, under their derived names: `derived` are the collections before any is renamed. */
export function declareRelations(
  config: PlatformConfig,
  model: DeclaredModel,
  derived: readonly Collection[],
): PlatformConfig {
  const relations = new Map<string, RelationConfig>();
  const junctions: ManyToManyConfig[] = [];
  // A field that names a many-to-any names no other relation.
  const links = new Set(model.relations.filter(isAnyItem).map((row) => placeOf(row, 'junction_field')));
  const translations = translationsIn(model, config, derived);
  const translated = new Set(translations.map(({ collection, field }) => `${collection}.${field}`));
  for (const row of model.relations.filter((candidate) => !isAnyItem(candidate))) {
    const isTranslated = translated.has(`${textOf(row, 'one_collection')}.${textOf(row, 'one_field')}`);
    const found = inverseName(row, derived, !isTranslated && textOf(row, 'junction_field') !== undefined);
    const isNamed = isTranslated || links.has(placeOf(row, 'many_field'));
    const name = isNamed ? undefined : textOf(row, 'one_field');
    const sort = textOf(row, 'sort_field');
    const ofTarget: RelationConfig = {
      ...(name && { name }),
      ...(sort && { sort }),
      ...(row.one_deselect_action === 'delete' && { onDeselect: 'delete' }),
    };
    if (found !== undefined) relations.set(found, ofTarget);
    else if (textOf(row, 'junction_field') !== undefined && textOf(row, 'one_collection') !== undefined) {
      if (joins(row, derived)) declareJunction(junctions, row, { name, sort });
    }
  }
  const entries = [...relations].map(([key, declared]) => [key, { ...declared, ...config.relations?.[key] }] as const);
  return {
    ...config,
    relations: { ...config.relations, ...Object.fromEntries(entries) },
    ...(junctions.length > 0 && { manyToMany: [...junctions, ...(config.manyToMany ?? [])] }),
    ...(translations.length > 0 && { translations: [...(config.translations ?? []), ...translations] }),
  };
}

/** The derived relation that a row is about: through the junction that it names, else the inverse of its key. */
function inverseName(row: DeclaredRow, derived: readonly Collection[], through: boolean): string | undefined {
  const owner = derived.find(({ name }) => name === textOf(row, 'one_collection'));
  const [many, field] = [textOf(row, 'many_collection'), textOf(row, 'many_field')];
  const found = owner?.relations.find((candidate) =>
    through
      ? candidate.kind === 'm2m' && candidate.junction === many
      : candidate.kind === 'o2m' && candidate.target === many && candidate.inverse === field,
  );
  return owner && found && relationKey(owner, found);
}

/** True if a row is about a junction: its fields do not wait for their relations, as these are made one by one. */
function joins(row: DeclaredRow, derived: readonly Collection[]): boolean {
  const junction = derived.find(({ name }) => name === textOf(row, 'many_collection'));
  const related = new Set(manyToOnesOf(junction ?? { relations: [] }).map(({ name }) => name));
  const named = ['many_field', 'junction_field'].map((member) => textOf(row, member));
  return !junction?.fields.some(({ name }) => named.includes(name) && !related.has(name));
}

/** A junction that its keys do not show has a name on both sides. */
function declareJunction(
  junctions: ManyToManyConfig[],
  row: DeclaredRow,
  { name, sort }: { readonly name: string | undefined; readonly sort: string | undefined },
): void {
  const [junction = '', near = '', far = ''] = ['many_collection', 'many_field', 'junction_field'].map((column) =>
    textOf(row, column),
  );
  const index = junctions.findIndex(
    (candidate) => candidate.junction === junction && candidate.near === far && candidate.far === near,
  );
  const existing = junctions[index];
  if (existing === undefined) junctions.push({ junction, near, far, ...(name && { name }), ...(sort && { sort }) });
  else junctions[index] = { ...existing, ...(name && { inverseName: name }) };
}

function isAnyItem(row: DeclaredRow): boolean {
  return textOf(row, 'one_collection') === undefined && textOf(row, 'one_collection_field') !== undefined;
}

function rowOf({ relations }: DeclaredModel, collection: string, field: string): DeclaredRow | undefined {
  return relations.find((row) => textOf(row, 'many_collection') === collection && textOf(row, 'many_field') === field);
}

function placeOf(row: DeclaredRow, field: string): string {
  return `${textOf(row, 'many_collection')}.${textOf(row, field)}`;
}

/**
 * Translations that the platform's own tables declare: sides of relations with the special `translations`. Their child
 * leads to the languages by `junction_field`, or by the only other key. One that waits for a relation is not a
 * translation yet. The configuration of the same child takes precedence. Source: API specification, sections 6 and 7.1.
 */
function translationsIn(
  { fields, relations }: DeclaredModel,
  config: PlatformConfig,
  derived: readonly Collection[],
): readonly TranslationsConfig[] {
  const byName = collectionsByName(derived);
  const configured = new Set((config.translations ?? []).map(({ collection, child }) => `${collection}.${child}`));
  return fields.filter(isTranslated).flatMap((field): readonly TranslationsConfig[] => {
    const row = relations.find(
      (candidate) => candidate.one_collection === field.collection && candidate.one_field === field.field,
    );
    const child = byName.get(String(row?.many_collection));
    if (row === undefined || child === undefined) return [];
    const declared = { collection: String(field.collection), field: String(field.field), child: child.name };
    const keys = manyToOnesOf(child);
    const others = keys.filter(({ name }) => name !== row.many_field);
    const named = textOf(row, 'junction_field');
    const [language, ...more] = named === undefined ? others : others.filter(({ name }) => name === named);
    const isWhole = keys.some(({ name, target }) => name === row.many_field && target === declared.collection);
    if (language === undefined || more.length > 0 || !isWhole) return [];
    return configured.has(`${declared.collection}.${child.name}`) ? [] : [{ ...declared, languages: language.target }];
  });
}

function isTranslated(row: DeclaredRow): boolean {
  return namesOf(row, 'special').includes('translations');
}

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
 * Pairs of fields by which an item finds its link rows: those of the foreign key of `linkField`. A plain field holds
 * the key of the item.
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

/** Turns one-to-many relations that are declared as translations into such, with the field of the language. */
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
