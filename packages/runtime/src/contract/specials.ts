/** What fields without a column are, as `platform_fields.special` says. Source: API specification, section 6. */

/** Sides of relations. */
export const relationSpecials = ['o2m', 'm2m', 'm2a', 'translations', 'files'] as const;

/** What only structures a form: these have no values. */
export const plainSpecials = ['alias', 'no-data', 'group'] as const;

/** Which side of a relation the specials of a field name; undefined where they name none. */
export function relationSpecialIn(special: readonly string[]): (typeof relationSpecials)[number] | undefined {
  return relationSpecials.find((one) => special.includes(one));
}

/** Whether a field with these specials has no column. */
export function isColumnless(special: readonly string[]): boolean {
  return relationSpecialIn(special) !== undefined || plainSpecials.some((one) => special.includes(one));
}
