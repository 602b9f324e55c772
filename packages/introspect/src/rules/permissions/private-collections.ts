import type { Rule } from '../rule.ts';
import { quotedList } from '../rule.ts';

/** A collection that no rule names is private to administrators. */
export const privateCollections: Rule = (schema, { permissions: { fileName } }) => {
  const ruled = new Set(schema.permissions.map(({ collection }) => collection));
  const ordinary = schema.collections.filter(({ system }) => system === undefined);
  const names = ordinary.map(({ name }) => name).filter((name) => !ruled.has(name));
  if (names.length === 0) return [];
  const subject = names.length === ordinary.length ? 'Every collection' : quotedList(names);
  const verb = names.length > 1 && subject !== 'Every collection' ? 'are' : 'is';
  return [
    {
      code: 'private',
      severity: 'info',
      place: fileName,
      message: `${subject} ${verb} private to administrators: no rule names ${verb === 'are' ? 'them' : 'it'}.`,
      hint: null,
    },
  ];
};
