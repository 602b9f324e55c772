import { isDeepStrictEqual } from 'node:util';
import type { Condition, Operand } from '@tablewright/runtime/language';
import { type Comparison, holdsOnNull } from './constraint.ts';
import { conjuncts } from './contradiction.ts';

/**
 * True if every row that meets `left` meets `right`, as far as their forms tell; false where that is not certain.
 * A rule is false as a whole where a value of the caller is missing, so `right` may use only values that `left` uses.
 */
export function implies(left: Condition, right: Condition): boolean {
  const used = callerValues(left);
  return (
    callerValues(right).every((value) => used.some((other) => isDeepStrictEqual(value, other))) && covers(left, right)
  );
}

function covers(left: Condition, right: Condition): boolean {
  if (isDeepStrictEqual(left, right)) return true;
  if (right.kind === 'and') return right.of.every((part) => covers(left, part));
  if (left.kind === 'or') return left.of.length > 0 && left.of.every((part) => covers(part, right));
  if (right.kind === 'or') return right.of.some((part) => covers(left, part));
  return conjuncts(left).some((part) => coversOne(part, right));
}

function coversOne(left: Condition, right: Condition): boolean {
  if (isDeepStrictEqual(left, right)) return true;
  if (left.kind === 'or') return covers(left, right);
  return left.kind === 'compare' && right.kind === 'compare' && narrows(left, right);
}

/** `_eq a` is among `_in [a, b]`; a comparison that is false on null implies a value. */
function narrows(left: Comparison, right: Comparison): boolean {
  if (left.field !== right.field || left.function !== right.function) return false;
  // A value at a path within JSON is compared by its own kind, which is unknown.
  if (left.path !== undefined || right.path !== undefined) return false;
  if (right.operator === '_nnull') return !holdsOnNull(left);
  if (right.operator !== '_in') return false;
  const [listed, allowed] = [listOf(left), listOf(right)];
  return listed !== null && allowed !== null && listed.every((value) => allowed.includes(value));
}

/** The values of an equation as JSON; null for other comparisons, and for values that a request decides. */
function listOf({ operator, operand }: Comparison): readonly string[] | null {
  if (operand.kind !== 'literal' || (operator !== '_eq' && operator !== '_in')) return null;
  const { value } = operand;
  const values = operator === '_in' && Array.isArray(value) ? value : [value];
  return values.map((value) => JSON.stringify(value));
}

/** The values of the caller that a condition uses. */
export function callerValues(condition: Condition): readonly Operand[] {
  if (condition.kind === 'compare') return condition.operand.kind === 'caller' ? [condition.operand] : [];
  return condition.kind === 'related' ? callerValues(condition.where) : condition.of.flatMap(callerValues);
}
