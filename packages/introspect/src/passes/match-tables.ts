import type { CollectionConfig, PlatformConfig } from '../config/config.ts';
import type { Table, TableId } from '../schema.ts';

/** The schema whose tables keep their own names: `public` when it is allowed, else the first of the allow-list. */
export function defaultSchema(config: PlatformConfig): string {
  const schemas = config.database?.schemas ?? ['public'];
  return schemas.includes('public') ? 'public' : (schemas[0] ?? 'public');
}

/**
 * Tables that a name in the configuration means. An id or `schema.table` means that table. A name alone means the one
 * of the default schema, else every table of that name. More than one is ambiguous.
 */
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
