import { desiredEnums } from '../passes/graphql-enums.ts';
import type { Rule } from './rule.ts';

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
