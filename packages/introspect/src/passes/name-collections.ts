import { callerCollections } from '@platform/runtime/contract';
import type { CollectionConfig, PlatformConfig } from '../config/config.ts';
import { sortedBy } from '../order.ts';
import type { Table } from '../schema.ts';
import { defaultSchema, matchTables } from './match-tables.ts';

/** A table with the name that the API gives it, and its part of the configuration. */
export interface NamedTable {
  readonly name: string;
  readonly table: Table;
  readonly config: CollectionConfig;
}

/** Collections of the product itself begin with this (API specification, section 10). */
export const reservedPrefix = 'platform_';

/**
 * Names the tables that the API shows.
 *
 * A name depends on its own table and the configuration only, so a new table never renames another. Hidden tables are
 * left out, and so are those with a reserved name, except the product's own tables of users and roles. Sorted by name.
 */
export function nameCollections(tables: readonly Table[], config: PlatformConfig): readonly NamedTable[] {
  const matches = matchTables(tables, config);
  const schema = defaultSchema(config);
  const named = tables.map((table) => nameTable(table, matches.get(table.id) ?? {}, schema));
  const shown = named.filter(({ config: own, ...one }) => own.hidden !== true && !isReserved(one, schema));
  return sortedBy(
    shown,
    ({ name }) => name,
    ({ table }) => table.id,
  );
}

/** The name a table has in the API when it is shown. */
export function collectionName(table: Table, config: CollectionConfig, schema: string): string {
  return config.name ?? (table.schema === schema ? table.name : `${table.schema}_${table.name}`);
}

const systemNames: ReadonlySet<string> = new Set(Object.values(callerCollections));

/** Whether a name belongs to the product and the table is not the one that the product means by it. */
export function isReserved({ name, table }: Pick<NamedTable, 'name' | 'table'>, schema: string): boolean {
  if (!name.startsWith(reservedPrefix)) return false;
  return !(systemNames.has(name) && table.name === name && table.schema === schema);
}

function nameTable(table: Table, config: CollectionConfig, schema: string): NamedTable {
  return { name: collectionName(table, config, schema), table, config };
}
