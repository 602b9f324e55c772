/** Kinds of fields without a column, as in `platform_fields.special`. Source: API specification, section 6. */

/** Sides of relations. */
export const relationSpecials = ['o2m', 'm2m', 'm2a', 'translations', 'files'] as const;

/** Fields that only structure a form: these have no values. */
export const plainSpecials = ['alias', 'no-data', 'group'] as const;

/** Which side of a relation the specials of a field name; undefined where they name none. */
export function relationSpecialIn(special: readonly string[]): (typeof relationSpecials)[number] | undefined {
  return relationSpecials.find((name) => special.includes(name));
}

/** True if a field with these specials has no column. */
export function isVirtual(special: readonly string[]): boolean {
  return relationSpecialIn(special) !== undefined || plainSpecials.some((name) => special.includes(name));
}
