import { defaultSchema, matchTables } from '../passes/match-tables.ts';
import { collectionName, isReserved } from '../passes/name-collections.ts';
import type { Rule } from './rule.ts';
import { tablePlace } from './rule.ts';

/** Names that begin with `platform_` belong to the product; such tables are left out unless they are the product's. */
export const reservedNames: Rule = (schema, { config }) => {
  const matches = matchTables(schema.tables, config);
  const main = defaultSchema(config);
  return schema.tables.flatMap((table) => {
    const own = matches.get(table.id) ?? {};
    const name = collectionName(table, own, main);
    if (own.hidden === true || !isReserved({ name, table }, main)) return [];
    return [
      {
        code: 'reserved-name',
        severity: 'warning' as const,
        place: tablePlace(table),
        message: `The name "${name}" is reserved, so the table is left out.`,
        hint: `Rename it: collections: { ${JSON.stringify(table.id)}: { name: … } }.`,
      },
    ];
  });
};
