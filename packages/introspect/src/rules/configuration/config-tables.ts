import { printTable } from '@tablewright/runtime/language';
import { groupedBy } from '../../order.ts';
import { defaultSchema, findTables } from '../../passes/match-tables.ts';
import type { Rule } from '../rule.ts';
import { quotedList } from '../rule.ts';
import { configError, unknownName } from './config-problem.ts';

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
