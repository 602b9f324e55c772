import { isDeepStrictEqual } from 'node:util';
import type { Condition } from '@tablewright/runtime/language';
import { always } from '@tablewright/runtime/language';
import { implies } from '../../conditions/implication.ts';
import { keyOf, pairRules, type RuledPermission } from '../../conditions/ruled-permissions.ts';
import type { Diagnostic } from '../../diagnostic.ts';
import { groupedBy } from '../../order.ts';
import type { Permission } from '../../schema.ts';
import type { Rule } from '../rule.ts';

/** A rule that says what another one says already. */
export const repeatedRules: Rule = (schema, { permissions }) => {
  const groups = groupedBy(pairRules(schema, permissions), ({ permission }) => keyOf(permission));
  return [...groups.values()].flatMap((group) => group.flatMap((rule, index) => problemOf(rule, index, group)));
};

function problemOf(rule: RuledPermission, index: number, group: readonly RuledPermission[]): readonly Diagnostic[] {
  const { source, permission } = rule;
  if (permission.action !== 'delete' && permission.fields.length === 0) return [];
  const same = group.slice(0, index).find((other) => isDeepStrictEqual(other.permission, permission));
  if (same !== undefined) {
    const message = `The rule says the same as the one at ${same.source.place}.`;
    return [{ code: 'repeated-rule', severity: 'warning', place: source.place, message, hint: 'Remove one of them.' }];
  }
  const wider = group.find(
    (other) => !isDeepStrictEqual(other.permission, permission) && isWithin(permission, other.permission),
  );
  if (wider === undefined) return [];
  const message = `The rule grants nothing that the one at ${wider.source.place} does not grant.`;
  return [{ code: 'subsumed-rule', severity: 'info', place: source.place, message, hint: 'Remove it.' }];
}

/** True if one rule grants everything that another does. */
function isWithin(rule: Permission, other: Permission): boolean {
  if (!rule.fields.every((field) => other.fields.includes(field)) || !implies(rule.where, other.where)) return false;
  // Presets of all rules that match are merged, so a rule that sets something is needed for that.
  const sets = rule.presets.length > 0 && !isDeepStrictEqual(rule.presets, other.presets);
  return !sets && implies(checkOf(rule), checkOf(other));
}

/** Condition on the written row; the rules of a create have no stored row to match. */
function checkOf({ action, where, check }: Permission): Condition {
  if (check !== null) return check;
  return action === 'update' ? where : always;
}
