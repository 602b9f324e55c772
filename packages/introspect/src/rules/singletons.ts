import { configPlace } from '../config/place.ts';
import { configuredTables } from './configuration/configured.ts';
import type { Rule } from './rule.ts';

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
