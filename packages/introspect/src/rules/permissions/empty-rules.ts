import type { Rule } from '../rule.ts';

/** A rule without fields grants nothing; only `delete` needs none. */
export const emptyRules: Rule = (_schema, { permissions }) =>
  permissions.rules
    .filter(({ action, fields }) => action !== 'delete' && (fields === null || fields.length === 0))
    .map(({ action, place: location }) => ({
      code: 'empty-rule',
      severity: 'warning' as const,
      place: location,
      message: `The rule for "${action}" lists no fields, so it grants nothing.`,
      hint: 'Write `fields: "*"` for all fields, or list them.',
    }));
