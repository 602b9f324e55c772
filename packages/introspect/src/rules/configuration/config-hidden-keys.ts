import { configPlace } from '../../config/place.ts';
import type { Rule } from '../rule.ts';
import { quotedList } from '../rule.ts';
import { configuredTables } from './configured.ts';

/** A collection whose key has a hidden column is served as one without a key. */
export const configHiddenKeys: Rule = (schema, sources) =>
  configuredTables(schema, sources).flatMap(({ name, table, collection }) => {
    const shown = new Set(collection?.fields.map(({ column }) => column));
    const missing = (table.primaryKey?.columns ?? []).filter((column) => !shown.has(column));
    if (collection === undefined || missing.length === 0) return [];
    return [
      {
        code: 'hidden-key',
        severity: 'warning' as const,
        place: configPlace('collections', name, 'fields'),
        message: `The key of "${collection.name}" has the hidden column ${quotedList(missing)}, so it can only be listed.`,
        hint: 'Show the column to read, write and link single items.',
      },
    ];
  });
