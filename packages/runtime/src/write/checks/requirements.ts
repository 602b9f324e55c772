/**
 * Requirements of a permission on a payload: sets of rules of which one must grant. Source: API specification, section
 * 8.3; security property P6.
 */

import { allOf, anyOf } from '../../dialects/fragment.ts';
import type { Requirement, Written } from './check.ts';

/** Returns the requirements of a permission on the columns: one for each set of rules that lists some of them. */
export function requirementsOf(written: Pick<Written, 'grant' | 'columns' | 'named'>): readonly Requirement[] {
  const { grant, columns, named } = written;
  const every = grant.rules.map((_, index) => index);
  const sets = Map.groupBy(columns.keys(), (index) => columns[index]?.field.rules.join() ?? '');
  const listed = [...sets.values()].map((places): Requirement => {
    const always = places.some((index) => columns[index]?.complete === true);
    return { rules: columns[places[0] ?? 0]?.field.rules ?? every, columns: always ? null : places };
  });
  for (const rules of named) {
    const index = listed.findIndex((requirement) => requirement.rules.join() === rules.join());
    listed.splice(index < 0 ? listed.length : index, index < 0 ? 0 : 1, { rules, columns: null });
  }
  // A rule that grants something always grants that there is a row.
  return listed.some((requirement) => requirement.columns === null)
    ? listed
    : [{ rules: every, columns: null }, ...listed.filter(({ rules }) => rules.length < every.length)];
}

/** SQL condition under which a stored row may be changed so: the requirements, applied to the rules that match. */
export function printAllowed(
  requirements: readonly Requirement[],
  matched: (rule: number) => string,
  present: (column: number) => string,
): string {
  return allOf(
    requirements.map(({ rules, columns }) => {
      const some = anyOf(rules.map(matched));
      if (columns === null) return some;
      const requested = anyOf(columns.map(present));
      return anyOf([some, `(${requested}) IS NOT TRUE`]);
    }),
  );
}
