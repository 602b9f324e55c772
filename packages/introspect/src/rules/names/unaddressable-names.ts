import { operators } from '@tablewright/runtime/language';
import { namesIn } from '../../passes/lookup.ts';
import type { Rule } from '../rule.ts';

const terms: ReadonlySet<string> = new Set([...operators, '_and', '_or', '_some', '_none', '*']);

/**
 * A name that means something else in a query (an operator, a path, descending order) is reached by wildcards only.
 *
 * Source: API specification, sections 5.1 and 5.2.
 */
export const unaddressableNames: Rule = (schema) =>
  schema.collections.flatMap((collection) =>
    [...namesIn(collection)]
      .filter((name) => terms.has(name) || name.includes('.') || name.startsWith('-'))
      .map((name) => ({
        code: 'unaddressable-name',
        severity: 'warning' as const,
        place: `collection ${collection.name}`,
        message: `"${name}" cannot be named in queries, where it has another meaning; wildcards still read it.`,
        hint: 'Give it another name in the configuration.',
      })),
  );
