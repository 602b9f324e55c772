import {
  defaultDialect,
  defaultSystemSchema,
  dialectFacts,
  ownSchema,
  type SystemCollection,
  systemCollection,
} from '@tablewright/runtime/language';
import type { CollectionConfig, PlatformConfig } from '../config/config.ts';
import type { SchemaFacts } from '../facts.ts';
import { sortedBy } from '../order.ts';
import type { Collection, Field, Relation, Table } from '../schema.ts';
import { defaultSchema, findTables } from './lookup.ts';

/** The schema that the platform's own tables lie in when they are installed. */
function systemSchema({ database }: PlatformConfig): string {
  return database?.systemSchema ?? defaultSystemSchema;
}

/** The configuration with the schema of the platform's tables by default; without schemas the connection's. */
export function placeSystem(
  config: PlatformConfig,
  { dialect = defaultDialect, tables }: Pick<SchemaFacts, 'dialect' | 'tables'>,
): PlatformConfig {
  if (dialectFacts[dialect].hasSchemas || config.database?.systemSchema !== undefined) return config;
  // One of a project's own that happens to be called like one of them does not come with all the others.
  const isThere = (name: string): boolean => tables.some((table) => table.schema === ownSchema && table.name === name);
  if (!['platform_users', 'platform_roles', 'platform_permissions'].every(isThere)) return config;
  return { ...config, database: { ...config.database, systemSchema: ownSchema } };
}

/** Facts of a table that is one of the platform's own. */
export function systemOf(
  { schema, name, kind }: Pick<Table, 'schema' | 'name' | 'kind'>,
  config: PlatformConfig,
): SystemCollection | undefined {
  return kind === 'table' && schema === systemSchema(config) ? systemCollection(name) : undefined;
}

/** The configuration with the part of the platform's own tables; settings of the project about them are left out. */
export function withSystemTables(config: PlatformConfig, tables: readonly Table[]): PlatformConfig {
  const systemConfigs = tables.flatMap((table) => {
    const system = systemOf(table, config);
    return system === undefined ? [] : [[table.id, configOf(system, table)] as const];
  });
  if (systemConfigs.length === 0) return config;
  const others = Object.entries(config.collections ?? {}).filter(([name]) => !meansSystemTable(name, tables, config));
  return { ...config, collections: Object.fromEntries([...others, ...systemConfigs]) };
}

/** True if a key under `collections` means a table of the platform. */
export function meansSystemTable(name: string, tables: readonly Table[], config: PlatformConfig): boolean {
  return findTables(tables, name, defaultSchema(config)).some((table) => systemOf(table, config) !== undefined);
}

function configOf(
  { name, singleton, types = {}, hidden = [] }: SystemCollection,
  { columns }: Table,
): CollectionConfig {
  // Some columns are those of one server alone.
  const there = new Set(columns.map((column) => column.name));
  const typed = Object.entries(types).map(([field, type]) => [field, { type }] as const);
  return {
    name,
    ...(singleton && { singleton }),
    fields: Object.fromEntries([
      ...typed,
      ...hidden.flatMap((field) => (there.has(field) ? [[field, { hidden: true }] as const] : [])),
    ]),
  };
}

/** Marks the collections of the platform, their fields that no input has, and identifiers without a type. */
export function markSystem(
  collections: readonly Collection[],
  tables: readonly Table[],
  config: PlatformConfig,
): readonly Collection[] {
  const systemTables = new Map(tables.flatMap((table) => ofTable(table, config)));
  if (systemTables.size === 0) return collections;
  const byId = new Map(tables.map((table) => [table.id, table]));
  return collections.map((collection) => {
    const system = systemTables.get(collection.table);
    const table = byId.get(collection.table);
    const identified = table === undefined ? collection : withIdentifiers(collection, table, systemTables);
    return system === undefined ? identified : marked(identified, system);
  });
}

/** Reads texts of the length of an identifier as such: in the platform's tables, and where a foreign key leads to one. */
function withIdentifiers(
  collection: Collection,
  table: Table,
  systemTables: ReadonlyMap<string, SystemCollection>,
): Collection {
  const isOwn = systemTables.has(table.id);
  const references = table.foreignKeys.flatMap(({ columns, target }) => (systemTables.has(target) ? columns : []));
  const identifiers = table.columns
    .filter(({ name, nativeType }) => nativeType === identifierText && (isOwn || references.includes(name)))
    .map(({ name }) => name);
  if (identifiers.length === 0) return collection;
  const fields = collection.fields.map((field) =>
    field.type === 'string' && identifiers.includes(field.column) ? { ...field, type: 'uuid' as const } : field,
  );
  return { ...collection, fields };
}

/** Type that migrations write for an identifier on servers without one. */
const identifierText = 'char(36)';

function ofTable(table: Table, config: PlatformConfig): readonly (readonly [string, SystemCollection])[] {
  const system = systemOf(table, config);
  return system === undefined ? [] : [[table.id, system]];
}

/** The field of items that are no rows, which no column holds. */
const impliedField: Field = {
  ...{ name: 'system', column: 'system', type: 'boolean', note: null, required: false },
  serverOwned: true,
};

function marked(collection: Collection, { writes, serverOwned = [], implied }: SystemCollection): Collection {
  const fields = collection.fields.map((field) => {
    const isOwned = serverOwned === 'all' || serverOwned.includes(field.name);
    return isOwned ? { ...field, required: false, serverOwned: true as const } : field;
  });
  return { ...collection, system: { writes }, fields: implied === undefined ? fields : [...fields, impliedField] };
}

/** Notes the roles that have rules by app access where these are items beside the rows. */
export function withImplied(collections: readonly Collection[], roles: readonly string[]): readonly Collection[] {
  return collections.map((collection) => {
    const { name, system } = collection;
    const hasImplied = systemCollection(name)?.implied !== undefined;
    if (system === undefined || roles.length === 0 || !hasImplied) return collection;
    return { ...collection, implied: roles };
  });
}

/** Names of the one-to-many relations between collections of the platform: other relations yield to them. */
export function systemNames(
  declared: ReadonlyMap<string, ReadonlySet<string>>,
  collections: readonly Collection[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const systemOnly = collections.filter(({ system }) => system !== undefined);
  const named = systemOnly.map(({ name }) => {
    const inverses = Object.keys(systemCollection(name)?.inverses ?? {});
    return [name, new Set([...(declared.get(name) ?? []), ...inverses])] as const;
  });
  return new Map([...declared, ...named]);
}

/**
 * Gives the one-to-many relations between collections of the platform the names they are specified with, and leaves out
 * those that are not specified. A project's own collections are related to the platform's as to any other.
 */
export function nameSystemInverses(collections: readonly Collection[]): readonly Collection[] {
  const system = new Set(collections.filter((collection) => collection.system !== undefined).map(({ name }) => name));
  if (system.size === 0) return collections;
  return collections.map((collection) => {
    if (!system.has(collection.name)) return collection;
    const relations = collection.relations.flatMap((relation) =>
      relation.kind === 'o2m' && system.has(relation.target) ? namedInverse(collection.name, relation) : [relation],
    );
    return { ...collection, relations: sortedBy(relations, ({ name }) => name) };
  });
}

function namedInverse(owner: string, relation: Extract<Relation, { readonly kind: 'o2m' }>): readonly Relation[] {
  const inverses = Object.entries(systemCollection(owner)?.inverses ?? {});
  const found = inverses.find(
    ([, { collection, field }]) => collection === relation.target && field === relation.inverse,
  );
  return found === undefined ? [] : [{ ...relation, name: found[0] }];
}
