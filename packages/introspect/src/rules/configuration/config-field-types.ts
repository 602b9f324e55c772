import { types } from '@tablewright/runtime/language';
import type { Rule } from '../rule.ts';
import { configError } from './config-problem.ts';
import { configuredTables } from './configured.ts';

/** A column is read as another type only where each of its values can be. */
export const configFieldTypes: Rule = (schema, sources) =>
  configuredTables(schema, sources).flatMap(({ name, config, table }) =>
    Object.entries(config.fields ?? {}).flatMap(([columnName, { type }]) => {
      const column = table.columns.find((candidate) => candidate.name === columnName);
      if (type === undefined || column === undefined || types[type].readFrom?.includes(column.type.portable) === true)
        return [];
      const message = `The column "${columnName}" of type ${column.nativeType} cannot be read as "${type}".`;
      return [configError(['collections', name, 'fields', columnName, 'type'], 'field-type', message)];
    }),
  );
