import { printTable } from '@tablewright/runtime/language';
import { groupedBy } from '../../order.ts';
import { tablesById } from '../../passes/lookup.ts';
import type { Rule } from '../rule.ts';
import { configKey, quotedList, tablePlace } from '../rule.ts';

/** No two tables have the same API name. */
export const collectionNames: Rule = (schema) => {
  const tables = tablesById(schema.tables);
  const groups = groupedBy(schema.collections, ({ name }) => name);
  return [...groups].flatMap(([name, group]) =>
    group.slice(1).map(({ table: id }) => {
      const table = tables.get(id);
      return {
        code: 'name-collision',
        severity: 'error' as const,
        place: table === undefined ? id : tablePlace(schema, table),
        message: `The tables ${quotedList(group.map(({ table }) => printTable(schema.dialect, table)))} would all be the collection "${name}".`,
        hint: `Rename one: collections: { ${JSON.stringify(table === undefined ? id : configKey(schema, table))}: { name: … } }.`,
      };
    }),
  );
};
