import { groupedBy } from '../../order.ts';
import type { Rule } from '../rule.ts';
import { columnPlace, quotedList } from '../rule.ts';

/** No two columns of a table have the same API name. */
export const fieldNames: Rule = (schema) =>
  schema.collections.flatMap((collection) =>
    [...groupedBy(collection.fields, ({ name }) => name)]
      .filter(([, group]) => group.length > 1)
      .map(([name, group]) => ({
        code: 'name-collision',
        severity: 'error' as const,
        place: columnPlace(schema, collection.table, group.at(-1)?.column ?? name),
        message: `The columns ${quotedList(group.map(({ column }) => column))} would all be the field "${name}".`,
        hint: 'Give one of them another name in the configuration.',
      })),
  );
