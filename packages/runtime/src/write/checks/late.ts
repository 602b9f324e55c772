/** Which conditions a statement cannot judge on the rows it writes itself, because it does not see them yet. */
import type { Condition } from '../../language/index.ts';
import type { CollectionScope, Scope } from '../../sql/scope.ts';

/** True if a condition holds on every row. */
export function isEveryRow(condition: Condition): boolean {
  return condition.kind === 'and' && condition.of.every(isEveryRow);
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
