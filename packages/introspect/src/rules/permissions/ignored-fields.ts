import type { Rule } from '../rule.ts';

/** Deleting takes the whole row, so a rule for it has no use for fields (API specification, section 8.1). */
export const ignoredFields: Rule = (_schema, { permissions }) =>
  permissions.rules
    .filter(({ action, fields }) => action === 'delete' && fields?.some(({ name }) => name !== '*'))
    .map(({ place: location, fields }) => ({
      code: 'ignored-fields',
      severity: 'warning' as const,
      place: fields?.[0]?.place ?? location,
      message: 'A rule for "delete" lists fields, which have no effect: it deletes whole rows.',
      hint: 'Remove `fields`; say under `filter` which rows.',
    }));
