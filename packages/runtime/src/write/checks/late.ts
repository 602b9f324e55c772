/** Which conditions a statement cannot judge on the rows it writes itself, because it does not see them yet. */
import type { CallerOperand, Condition, Operand } from '../../language/index.ts';
import type { CollectionScope, Scope } from '../../sql/scope.ts';

/** True if a condition holds on every row. */
export function isEveryRow(condition: Condition): boolean {
  return condition.kind === 'and' && condition.of.every(isEveryRow);
}

/** True for the comparison with the caller's tenant, which no request changes. */
function isTenant(
  { descriptor: { tenant } }: CollectionScope,
  condition: Extract<Condition, { kind: 'compare' }>,
): boolean {
  if (tenant?.kind !== 'compare' || condition.field !== tenant.field || condition.operator !== '_eq') return false;
  const { operand } = condition;
  return operand.kind === 'caller' && isSameOperand(operand, tenant.operand);
}

function isSameOperand(operand: CallerOperand, other: Operand): boolean {
  return other.kind === 'caller' && operand.of === other.of && operand.path.join('.') === other.path.join('.');
}

/**
 * True if the check of a condition on a written row may depend on rows that the same request writes.
 *
 * A path along many-to-one relations to other tables does not. Anything else that leaves the row may, through a view
 * for example, so it waits until everything is written.
 */
export function isLate(
  scope: Scope,
  collection: CollectionScope,
  condition: Condition,
  written: ReadonlySet<string>,
): boolean {
  if (condition.kind === 'compare') {
    if (isTenant(collection, condition)) return false;
    if (condition.operand.kind === 'caller' && condition.operand.path.length > 0) return true;
    const relation = condition.function === 'count' ? collection.relations.get(condition.field) : undefined;
    return relation !== undefined && relation.descriptor.kind !== 'm2o';
  }
  if (condition.kind !== 'related') return condition.of.some((part) => isLate(scope, collection, part, written));
  const relation = collection.relations.get(condition.relation)?.descriptor;
  const target = scope.collections.get(relation?.target ?? '');
  if (relation?.kind !== 'm2o' || target === undefined || written.has(relation.target)) return true;
  return isLate(scope, target, condition.where, written);
}
