import type { CollectionConfig } from '../../config/config.ts';
import { configPlace, type Diagnostic } from '../../diagnostic.ts';
import { suggest } from '../../did-you-mean.ts';
import { defaultSchema, findTables } from '../../passes/lookup.ts';
import type { Collection, Schema, Table } from '../../schema.ts';
import type { RuleSources } from '../rule.ts';

/** A name in the configuration that means nothing, with the nearest one that does. */
export function unknownName(
  path: readonly (string | number)[],
  message: string,
  name: string,
  candidates: Iterable<string>,
): Diagnostic {
  return configError(path, 'unknown-name', message, suggest(name, candidates));
}

/** Something in the configuration that cannot be done. */
export function configError(
  path: readonly (string | number)[],
  code: string,
  message: string,
  hint: string | null = null,
): Diagnostic {
  return { code, severity: 'error', place: configPlace(...path), message, hint };
}

/** One entry under `collections` of the configuration with the table it means. */
interface Configured {
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
