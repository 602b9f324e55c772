import { reservedPrefix } from '@tablewright/runtime/language';
import { defaultSchema, matchTables } from '../../passes/match-tables.ts';
import { collectionName } from '../../passes/name-collections.ts';
import { systemOf } from '../../passes/system-tables.ts';
import type { Rule } from '../rule.ts';
import { configKey, tablePlace } from '../rule.ts';

/** Names that begin with `platform_` belong to the platform; tables of others that have one are left out. */
export const reservedNames: Rule = (schema, { config }) => {
  const matches = matchTables(schema.tables, config);
  return schema.tables.flatMap((table) => {
    if (systemOf(table, config) !== undefined) return [];
    const settings = matches.get(table.id) ?? {};
    const name = collectionName(table, settings, defaultSchema(config));
    if (settings.hidden === true || !name.startsWith(reservedPrefix)) return [];
    return [
      {
        code: 'reserved-name',
        severity: 'warning' as const,
        place: tablePlace(schema, table),
        message: `The name "${name}" is reserved, so the table is left out.`,
        hint: `Rename it: collections: { ${JSON.stringify(configKey(schema, table))}: { name: … } }.`,
      },
    ];
  });
};
