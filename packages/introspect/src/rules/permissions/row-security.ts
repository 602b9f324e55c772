import { tablesById } from '../../passes/lookup.ts';
import type { Rule } from '../rule.ts';
import { tablePlace } from '../rule.ts';

/** Row-level security of the database acts beside our rules, except for the owner of the table. */
export const rowSecurity: Rule = (schema) => {
  const byId = tablesById(schema.tables);
  return schema.collections.flatMap((collection) => {
    const table = byId.get(collection.table);
    if (table === undefined || !table.rowSecurity.enabled) return [];
    const owner = table.rowSecurity.forced ? '' : `, unless the server connects as its owner "${table.owner}"`;
    return [
      {
        code: 'row-security',
        severity: 'info' as const,
        place: tablePlace(schema, table),
        message: `Row-level security of the database applies to every role of the API${owner}.`,
        hint: null,
      },
    ];
  });
};
