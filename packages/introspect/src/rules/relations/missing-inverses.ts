import { printTable } from '@tablewright/runtime/language';
import { manyToOnesOf } from '../../passes/lookup.ts';
import type { Rule } from '../rule.ts';
import { quotedList } from '../rule.ts';

/** Rows without a key cannot be listed by key, so a collection without one is no target of a to-many relation. */
export const missingInverses: Rule = (schema) =>
  schema.collections.flatMap((collection) => {
    const targets = [...new Set(manyToOnesOf(collection).map(({ target }) => target))];
    if (collection.key.length > 0 || targets.length === 0) return [];
    return [
      {
        code: 'no-inverse',
        severity: 'info' as const,
        place: `table ${printTable(schema.dialect, collection.table)}`,
        message: `The table has no key, so ${quotedList(targets)} cannot read its rows as a relation.`,
        hint: 'Give it a primary key, or a key in the configuration.',
      },
    ];
  });
