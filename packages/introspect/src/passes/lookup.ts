import { derivedOnce } from '@tablewright/runtime/language';
import type { CollectionConfig, PlatformConfig } from '../config/config.ts';
import { sortedBy } from '../order.ts';
import type { Collection, Field, JoinPair, Relation, Table, TableId } from '../schema.ts';

export type ManyToOneRelation = Extract<Relation, { readonly kind: 'm2o' }>;

export type OneToManyRelation = Extract<Relation, { readonly kind: 'o2m' }>;

export type ManyToManyRelation = Extract<Relation, { readonly kind: 'm2m' }>;

/** Nearly every pass looks tables up, and no list is changed once it is made. */
export const tablesById = derivedOnce(
  (tables: readonly Table[]): ReadonlyMap<TableId, Table> => new Map(tables.map((table) => [table.id, table])),
);

/**
 * Collections by their API name. If two have one name, which a rule reports, the first is found. Rules look collections up
 * for each of what they judge.
 */
export const collectionsByName = derivedOnce(
  (collections: readonly Collection[]): ReadonlyMap<string, Collection> =>
    new Map(collections.map((collection) => [collection.name, collection] as const).reverse()),
);

/** The field with this API name, else the one of the column with this name. */
export function namedIn(fields: readonly Field[], name: string): Field | undefined {
  return fields.find((field) => field.name === name) ?? fields.find((field) => field.column === name);
}

/** Names that a collection uses: those of its fields and relations. */
export function namesIn(collection: Collection): Set<string> {
  return new Set([...collection.fields, ...collection.relations].map(({ name }) => name));
}

export function manyToOnesOf(collection: Pick<Collection, 'relations'>): readonly ManyToOneRelation[] {
  return collection.relations.filter((relation) => relation.kind === 'm2o');
}

export function oneToManysOf(collection: Pick<Collection, 'relations'>): readonly OneToManyRelation[] {
  return collection.relations.filter((relation) => relation.kind === 'o2m');
}

export function manyToManysOf(collection: Pick<Collection, 'relations'>): readonly ManyToManyRelation[] {
  return collection.relations.filter((relation) => relation.kind === 'm2m');
}

/** Adds relations to a collection; sorted by name. */
export function withRelations(collection: Collection, relations: readonly Relation[]): Collection {
  return { ...collection, relations: sortedBy([...collection.relations, ...relations], ({ name }) => name) };
}

/** The same pairs seen from the other side. */
export function reversed(on: readonly JoinPair[]): readonly JoinPair[] {
  return on.map(({ from, to }) => ({ from: to, to: from }));
}

/** Label that distinguishes foreign keys in names: fields joined by `_`, or the relation's name for a second key. */
export function foreignKeyLabel(collection: Collection, relation: ManyToOneRelation): string {
  if (relation.field !== null) return relation.field;
  return relation.on.length === 1 ? relation.name : fieldNames(collection, relation).join('_');
}

/** API names of the columns that hold a foreign key. */
export function fieldNames(collection: Collection, relation: Pick<ManyToOneRelation, 'on'>): readonly string[] {
  return relation.on.map(({ from }) => collection.fields.find((field) => field.column === from)?.name ?? from);
}

/** The schema whose tables keep their own names: `public` when it is allowed, else the first of the allow-list. */
export function defaultSchema(config: PlatformConfig): string {
  const schemas = config.database?.schemas ?? ['public'];
  return schemas.includes('public') ? 'public' : (schemas[0] ?? 'public');
}

/** Tables that a name in the configuration means: an id or `schema.table`, else by name alone, maybe several. */
export function findTables(tables: readonly Table[], name: string, schema: string): readonly Table[] {
  const exact = tables.filter((table) => table.id === name || `${table.schema}.${table.name}` === name);
  if (exact.length > 0) return exact;
  const named = tables.filter((table) => table.name === name);
  const preferred = named.filter((table) => table.schema === schema);
  return preferred.length > 0 ? preferred : named;
}

/** Pairs tables with their part of the configuration. Names that mean none or several tables are left to the rules. */
export function matchTables(tables: readonly Table[], config: PlatformConfig): ReadonlyMap<TableId, CollectionConfig> {
  const matches = new Map<TableId, CollectionConfig>();
  for (const [name, collection] of Object.entries(config.collections ?? {})) {
    const [table, ...others] = findTables(tables, name, defaultSchema(config));
    if (table !== undefined && others.length === 0 && !matches.has(table.id)) matches.set(table.id, collection);
  }
  return matches;
}
