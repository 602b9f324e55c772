import { reservedPrefix } from '@tablewright/runtime/language';
import type { CollectionConfig, PlatformConfig } from '../config/config.ts';
import { sortedBy } from '../order.ts';
import type { Table } from '../schema.ts';
import { defaultSchema, matchTables } from './match-tables.ts';
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
