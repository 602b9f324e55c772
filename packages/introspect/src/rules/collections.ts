/** Mistakes about singletons, vectors and enums. */
import { dialectFacts } from '@tablewright/runtime/language';
import { configPlace } from '../diagnostic.ts';
import { desiredEnums } from '../passes/graphql-enums.ts';
import { tablesById } from '../passes/lookup.ts';
import { configuredTables } from './configuration/config-problem.ts';
import { columnPlace, type Rule } from './rule.ts';

/** A singleton is one row of a table with a key; without one it can be read but not written. */
export const singletons: Rule = (schema, sources) =>
  configuredTables(schema, sources).flatMap(({ name, collection }) =>
    collection === undefined || !collection.singleton || collection.key.length > 0
      ? []
      : [
          {
            code: 'singleton-without-key',
            severity: 'warning' as const,
            place: configPlace('collections', name, 'singleton'),
            message: `The singleton "${collection.name}" has no key, so it can only be read.`,
            hint: 'Give the table a primary key.',
          },
        ],
  );

/** A server without distances cannot serve vectors. */
export const vectors: Rule = (schema) => {
  const { title, measuresVectors } = dialectFacts[schema.dialect];
  if (measuresVectors) return [];
  const byId = tablesById(schema.tables);
  return schema.collections.flatMap(({ table, fields }) => {
    const columns = byId.get(table)?.columns.filter(({ type }) => type.portable === 'vector') ?? [];
    const served = columns.filter(({ name }) => fields.some(({ column }) => column === name));
    return served.map(({ name }) => ({
      code: 'vector-unsupported',
      severity: 'error' as const,
      place: columnPlace(schema, table, name),
      message: `${title} has no distances of vectors, so "${name}" cannot be served.`,
      hint: 'Leave it out: `hidden: true` for the field in platform.config.ts.',
    }));
  });
};

/** An enum of which GraphQL cannot have every label has none of them: its values are strings. */
export const enumsAsStrings: Rule = (schema, { config }) =>
  desiredEnums(schema, config).flatMap(({ source, refusal }) =>
    refusal === null
      ? []
      : [
          {
            code: 'enum-as-string',
            severity: 'info' as const,
            place: `enum ${source}`,
            message: `In GraphQL the values of "${source}" are strings: ${refusal}.`,
            hint: null,
          },
        ],
  );
