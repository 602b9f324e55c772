import { printTable } from '@tablewright/runtime/language';
import type { Rule } from '../rule.ts';
import { configError } from './config-problem.ts';
import { configuredTables } from './configured.ts';

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
