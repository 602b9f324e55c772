import { allOf, anyOf } from '../dialects/fragment.ts';
import type { Condition } from '../language/index.ts';
import { printCondition } from './condition.ts';
import { copiedItemReadable } from './copied-items.ts';
import { callerGuards } from './guards.ts';
import type { Row } from './row.ts';

/**
 * Rules are written by the operator of the service, so they see every row and every cell. A rule may look at
 * collections that the caller cannot read, and rules never depend on each other.
 */
function asRuleSeesIt(row: Row): Row {
  const { rules } = row.scope;
  const collection = rules?.collections.get(row.collection.descriptor.name);
  return rules === null || collection === undefined ? row : { ...row, scope: rules, collection };
}

/**
 * One rule on one row. Where it uses a value of the caller that is missing, it is false as a whole, also where the value
 * stands under a negation (security property P7).
 */
export function ruleHolds(row: Row, rule: Condition): string {
  const seen = asRuleSeesIt(row);
  return allOf([...callerGuards(seen, rule), printCondition(seen, rule)]);
}

/**
 * SQL predicate that is true if the caller can read a row: some rule holds on it, and the item can be read where it
 * holds one.
 */
export function readable(row: Row): string {
  return allOf([anyOf(row.collection.rows.map((rule) => ruleHolds(row, rule))), copiedItemReadable(row)]);
}
