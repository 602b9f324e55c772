import { printTable } from '@tablewright/runtime/language';
import type { Rule } from '../rule.ts';
import { unknownName } from './config-problem.ts';
import { configuredTables } from './configured.ts';

/** Every key under `fields` is a column of its table. */
export const configColumns: Rule = (schema, sources) =>
  configuredTables(schema, sources).flatMap(({ name, config, table }) => {
    const columns = table.columns.map((column) => column.name);
    return Object.keys(config.fields ?? {})
      .filter((column) => !columns.includes(column))
      .map((column) => {
        const message = `The table "${printTable(schema.dialect, table.id)}" has no column "${column}".`;
        return unknownName(['collections', name, 'fields', column], message, column, columns);
      });
  });
