import type { CollectionConfig } from '../../config/config.ts';
import { defaultSchema, findTables } from '../../passes/match-tables.ts';
import type { Collection, Schema, Table } from '../../schema.ts';
import type { RuleSources } from '../rule.ts';

/** One entry under `collections` of the configuration with the table it means. */
export interface Configured {
  /** The key in the configuration. */
  readonly name: string;
  readonly config: CollectionConfig;
  readonly table: Table;
  /** Undefined when the table is left out of the API. */
  readonly collection: Collection | undefined;
}

/** The entries of the configuration that mean one table. */
export function configuredTables(schema: Schema, { config }: RuleSources): readonly Configured[] {
  return Object.entries(config.collections ?? {}).flatMap(([name, settings]) => {
    const [table, ...others] = findTables(schema.tables, name, defaultSchema(config));
    if (table === undefined || others.length > 0) return [];
    const collection = schema.collections.find((candidate) => candidate.table === table.id);
    return [{ name, config: settings, table, collection }];
  });
}
