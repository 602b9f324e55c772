import type { PortableType } from '@tablewright/runtime/language';
import type { FieldTypeConfig } from '../config/config.ts';
import { configError } from './config-problem.ts';
import { configuredTables } from './configured.ts';
import type { Rule } from './rule.ts';

const texts: readonly PortableType[] = ['string', 'text'];

/** Which types of a column can be read as another. */
const readableFrom: Readonly<Record<FieldTypeConfig, readonly PortableType[]>> = {
  csv: texts,
  hash: texts,
  secret: texts,
  token: texts,
  uuid: [...texts, 'uuid'],
  boolean: ['boolean', 'integer'],
  json: [...texts, 'json'],
};

/** A column is read as another type only where each of its values can be. */
export const configFieldTypes: Rule = (schema, sources) =>
  configuredTables(schema, sources).flatMap(({ name, config, table }) =>
    Object.entries(config.fields ?? {}).flatMap(([columnName, { type }]) => {
      const column = table.columns.find((candidate) => candidate.name === columnName);
      if (type === undefined || column === undefined || readableFrom[type].includes(column.type.portable)) return [];
      const message = `The column "${columnName}" of type ${column.nativeType} cannot be read as "${type}".`;
      return [configError(['collections', name, 'fields', columnName, 'type'], 'field-type', message)];
    }),
  );
