import { allOf, anyOf, sqlTrue } from '../dialects/fragment.ts';
import type { Condition } from '../language/index.ts';
import { callerGuards } from './guards.ts';
import type { Row } from './row.ts';
import type { Grant } from './scope.ts';

/**
 * Rules are written by the operator of the service, so they see every row and every cell. A rule may look at
 * collections that the caller cannot read, and rules never depend on each other.
 */
export function asRuleSeesIt(row: Row): Row {
  const { rules } = row.scope;
  const collection = rules?.collections.get(row.collection.descriptor.name);
  return rules === null || collection === undefined ? row : { ...row, scope: rules, collection };
}

/**
 * One rule on one row. It is false as a whole where it uses a missing value of the caller, also under a negation
 * (security property P7).
 */
export function ruleHolds(row: Row, rule: Condition): string {
  const seen = asRuleSeesIt(row);
  return allOf([...callerGuards(seen, rule), seen.statement.print.condition(seen, rule)]);
}

/**
 * When a cell of a row is readable, as a predicate. Several rules stay pairs of rows and fields. A cell is granted by
 * the rules that list its field, on the rows they match (security property P6).
 */
export function granted(row: Row, grant: Grant): string {
  return grant === null ? sqlTrue : anyOf(grant.map((rule) => ruleHolds(row, rule)));
}
