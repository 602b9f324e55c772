import { printTable, systemCollection } from '@tablewright/runtime/language';
import { groupedBy } from '../../order.ts';
import { defaultSchema, findTables } from '../../passes/lookup.ts';
import { meansSystemTable } from '../../passes/system-tables.ts';
import type { Collection } from '../../schema.ts';
import { quotedList, type Rule } from '../rule.ts';
import { configError, configuredTables, unknownName } from './config-problem.ts';

/** Every key under `collections` means exactly one table, and no two keys mean the same. */
export const configTables: Rule = ({ tables, dialect }, { config }) => {
  const found = Object.keys(config.collections ?? {}).map((name) => ({
    name,
    ids: findTables(tables, name, defaultSchema(config)).map(({ id }) => id),
  }));
  const meant = found.filter(({ ids }) => ids.length === 1);
  const repeated = [...groupedBy(meant, ({ ids }) => ids.join())].filter(([, group]) => group.length > 1);
  return [
    ...found.flatMap(({ name, ids }) => {
      const path = ['collections', name];
      if (ids.length === 1) return [];
      if (ids.length === 0) {
        const candidates = tables.flatMap((table) => [table.name, table.id]);
        return [unknownName(path, `There is no table "${name}".`, name, candidates)];
      }
      const message = `"${name}" means several tables: ${quotedList(ids.map((id) => printTable(dialect, id)))}.`;
      return [configError(path, 'ambiguous-name', message, 'Write the schema before the name.')];
    }),
    ...repeated.map(([id, group]) => {
      const names = quotedList(group.map(({ name }) => name));
      return configError(
        ['collections'],
        'repeated-name',
        `The keys ${names} mean the same table "${printTable(dialect, id)}".`,
      );
    }),
  ];
};

/** A key is configured only where the database has none, and names each field once. */
export const configKeys: Rule = (schema, sources) =>
  configuredTables(schema, sources).flatMap(({ name, config: { key }, table }) => {
    const path = ['collections', name, 'key'];
    if (key === undefined) return [];
    if (key.length === 0)
      return [configError(path, 'empty-key', 'The key names no field.', 'Name one, or leave it out.')];
    if (new Set(key).size < key.length) return [configError(path, 'repeated-name', 'The key names a field twice.')];
    if (table.primaryKey === null) return [];
    const configured = key.join();
    if (configured === table.primaryKey.columns.join()) return [];
    const message = `The table "${printTable(schema.dialect, table.id)}" has the primary key "${table.primaryKey.name}", which is its key.`;
    return [configError(path, 'key-exists', message, 'Leave the key out of the configuration.')];
  });

/** The platform's own tables and their relations are fixed. */
export const configSystem: Rule = ({ tables, collections }, { config }) => {
  const ownTables = Object.keys(config.collections ?? {}).filter((name) => meansSystemTable(name, tables, config));
  const fixed = new Set(collections.flatMap(fixedRelations));
  const ownRelations = Object.keys(config.relations ?? {}).filter((name) => fixed.has(name));
  return [
    ...ownTables.map((name) => refusal('collections', name)),
    ...ownRelations.map((name) => refusal('relations', name)),
  ];
};

/**
 * Keys of the relations to other collections of the platform: all that lead through a field, and the named inverses.
 */
function fixedRelations({ name: owner, system, fields }: Collection): readonly string[] {
  if (system === undefined) return [];
  const inverses = Object.keys(systemCollection(owner)?.inverses ?? {});
  return [...fields.map(({ name }) => name), ...inverses].map((name) => `${owner}.${name}`);
}

function refusal(section: string, name: string) {
  const message = `"${name}" belongs to the platform and takes no configuration.`;
  return configError([section, name], 'system-table', message, 'Remove the entry.');
}
