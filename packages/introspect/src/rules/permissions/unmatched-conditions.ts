import type { Condition } from '@tablewright/runtime/language';
import { type FactsIndex, indexFacts } from '../../conditions/column-facts.ts';
import { findContradiction } from '../../conditions/contradiction.ts';
import { callerValues } from '../../conditions/implication.ts';
import { pairRules, type RuledPermission } from '../../conditions/ruled-permissions.ts';
import type { PlacedValue } from '../../config/permissions/permission-document.ts';
import type { Diagnostic } from '../../diagnostic.ts';
import type { Rule } from '../rule.ts';

/** A condition that no row can meet makes a rule that grants nothing, or a validation that refuses everything. */
export const unmatchedConditions: Rule = (schema, { permissions }) => {
  const index = indexFacts(schema);
  return pairRules(schema, permissions).flatMap((rule) => [
    ...problemOf(rule, rule.permission.where, rule.source.filter, 'filter', index),
    ...problemOf(rule, rule.permission.check, rule.source.validation, 'validation', index),
  ]);
};

function problemOf(
  { permission }: RuledPermission,
  condition: Condition | null,
  source: PlacedValue | null,
  part: 'filter' | 'validation',
  index: FactsIndex,
): readonly Diagnostic[] {
  if (condition === null || source === null || isRefused(condition, source)) return [];
  const reason =
    withoutRole(permission.role, condition) ?? findContradiction(index, permission.collection, [condition]);
  if (reason === null) return [];
  const effect = part === 'filter' ? 'No row can match' : 'Nothing can pass';
  return [
    {
      code: 'never-matches',
      severity: 'warning',
      place: source.place,
      message: `${effect} the ${part}: ${reason}.`,
      hint: 'Correct the condition, or remove the rule.',
    },
  ];
}

/** A condition with a mistake matches nothing too; the mistake is reported where it is. */
function isRefused(condition: Condition, { value }: PlacedValue): boolean {
  if (condition.kind !== 'or' || condition.of.length > 0) return false;
  return typeof value !== 'object' || value === null || !('_or' in value);
}

/** Requests without a token, and users without a role, have no role whose values could be there. */
function withoutRole(role: string, condition: Condition): string | null {
  const used = callerValues(condition).some((operand) => operand.kind === 'caller' && operand.of === 'role');
  return role === 'public' && used ? 'callers of "public" have no role, so "$CURRENT_ROLE" is always missing' : null;
}
