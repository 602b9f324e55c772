import { reservedPrefix } from '@tablewright/runtime/language';
import type { CollectionConfig, FieldConfig, PlatformConfig } from '../config/config.ts';
import { sortedBy } from '../order.ts';
import type { Collection, Column, Field, Table } from '../schema.ts';
import { defaultSchema, matchTables, namedIn } from './lookup.ts';
import { systemOf } from './system-tables.ts';

/** A table with the name that the API gives it, and its part of the configuration. */
export interface NamedTable {
  readonly name: string;
  readonly table: Table;
  readonly config: CollectionConfig;
}

/**
 * Names the tables that the API shows.
 *
 * A name depends on its own table and the configuration only, so a new table never renames another. Hidden tables and
 * those with a reserved name that are not the platform's own are left out. Sorted by name.
 */
export function nameCollections(tables: readonly Table[], config: PlatformConfig): readonly NamedTable[] {
  const matches = matchTables(tables, config);
  const schema = defaultSchema(config);
  const named = tables.map((table) => nameTable(table, matches.get(table.id) ?? unconfigured, schema));
  const shown = named.filter(
    ({ name, table, config: settings }) =>
      settings.hidden !== true && (!name.startsWith(reservedPrefix) || systemOf(table, config) !== undefined),
  );
  return sortedBy(
    shown,
    ({ name }) => name,
    ({ table }) => table.id,
  );
}

/** One object for all tables of which the configuration says nothing. */
const unconfigured: CollectionConfig = {};

/** The name a table has in the API when it is shown. */
export function collectionName(table: Table, config: CollectionConfig, schema: string): string {
  return config.name ?? (table.schema === schema ? table.name : `${table.schema}_${table.name}`);
}

function nameTable(table: Table, config: CollectionConfig, schema: string): NamedTable {
  return { name: collectionName(table, config, schema), table, config };
}

/** Turns named tables into collections with fields and key; the same objects give the same collection. */
export function nameFields(tables: readonly NamedTable[]): readonly Collection[] {
  return tables.map((named) => {
    const cached = last.get(named.table);
    if (cached?.name === named.name && cached.config === named.config) return cached.collection;
    const collection = nameFieldsOf(named);
    last.set(named.table, { name: named.name, config: named.config, collection });
    return collection;
  });
}

const longestCache = 300;

/** Reads `60s`, `5m` or `90` (seconds); undefined for another text, and for more than five minutes. */
export function cacheSeconds(text: string): number | undefined {
  const [, digits, unit] = /^(\d{1,3})(s|m|)$/.exec(text) ?? [];
  const seconds = digits === undefined ? 0 : Number(digits) * (unit === 'm' ? 60 : 1);
  return seconds >= 1 && seconds <= longestCache ? seconds : undefined;
}

/** The last collection made of a table, for as long as the table lives. */
const last = new WeakMap<Table, Omit<NamedTable, 'table'> & { readonly collection: Collection }>();

function nameFieldsOf({ name, table, config }: NamedTable): Collection {
  const fields = fieldsOf(table, config);
  return {
    name,
    table: table.id,
    note: config.note ?? table.comment,
    ...(config.deprecated !== undefined && { deprecated: config.deprecated }),
    singleton: config.singleton ?? false,
    ...(config.accountability !== undefined &&
      config.accountability !== 'all' && { accountability: config.accountability }),
    ...(config.reads === 'replica' && { reads: 'replica' as const }),
    ...cacheOf(config),
    key: keyOf(table, config, fields),
    sort: config.sort === undefined ? null : (namedIn(fields, config.sort)?.name ?? null),
    archive: archiveOf(config, fields),
    ...softDeleteOf(config, fields),
    fields,
    relations: [],
  };
}

function cacheOf({ cache }: CollectionConfig): Pick<Collection, 'cache'> {
  const seconds = cache && cacheSeconds(cache.public);
  return seconds === undefined ? {} : { cache: { public: seconds } };
}

/** A name that no body may have, because in JavaScript it reaches a prototype. */
export const impossibleName = '__proto__';

function fieldsOf(table: Table, config: CollectionConfig): readonly Field[] {
  const configs = new Map(Object.entries(config.fields ?? {}));
  return table.columns.flatMap((column) => {
    const settings = configs.get(column.name) ?? {};
    const field = fieldOf(column, settings);
    return settings.hidden === true || field.name === impossibleName ? [] : [field];
  });
}

function fieldOf(column: Column, config: FieldConfig): Field {
  return {
    name: config.name ?? column.name,
    column: column.name,
    type: config.type ?? column.type.portable,
    note: config.note ?? column.comment,
    ...(config.deprecated !== undefined && { deprecated: config.deprecated }),
    required: (config.required === true && takesValues(column)) || isRequired(column),
    ...(config.geo !== undefined && { keepsReference: true as const }),
  };
}

/** True when an INSERT can have a value for the column. */
export function takesValues({ fill, updatable }: Column): boolean {
  return updatable && fill.kind !== 'generated' && !(fill.kind === 'identity' && fill.always);
}

/** True when an INSERT without a value for the column fails. */
function isRequired(column: Column): boolean {
  return !column.nullable && column.fill.kind === 'none' && column.updatable;
}

/** The primary key, else the configured one; empty when one of its columns is not shown. */
function keyOf(table: Table, config: CollectionConfig, fields: readonly Field[]): readonly string[] {
  const requested = table.primaryKey?.columns.map((column) => fields.find((field) => field.column === column));
  const found = requested ?? (config.key ?? []).map((name) => namedIn(fields, name));
  const names = found.flatMap((field) => field?.name ?? []);
  return names.length === found.length ? names : [];
}

function archiveOf({ archive: archiveRule }: CollectionConfig, fields: readonly Field[]): Collection['archive'] {
  const field = archiveRule === undefined ? undefined : namedIn(fields, archiveRule.field);
  if (archiveRule === undefined || field === undefined) return null;
  return { field: field.name, value: archiveRule.value ?? null, unarchiveValue: archiveRule.unarchiveValue ?? null };
}

function softDeleteOf({ softDelete }: CollectionConfig, fields: readonly Field[]): Pick<Collection, 'softDelete'> {
  const field = softDelete && namedIn(fields, softDelete.field);
  return softDelete && field ? { softDelete: { ...softDelete, field: field.name } } : {};
}
