/** Changes of rule conditions: of all rules together, and of those that grant a field. */
import { isDeepStrictEqual } from 'node:util';
import { implies } from '@tablewright/introspect';
import type { AccessRule, Condition } from '@tablewright/runtime/language';
import type { Direction } from '../change.ts';

/** Conditions of all rules of an action, or of those that grant some fields, before and after. */
export interface ConditionChange {
  /** Null for all rules. */
  readonly fields: readonly string[] | null;
  readonly was: readonly Condition[];
  readonly is: readonly Condition[];
  readonly direction: Direction;
}

/**
 * A field is granted on the rows of the rules that list it. So the rows that all rules together reach can stay while
 * those of a field change. Fields of which the same is to be said are put together, and those of which all is said are
 * left out.
 */
export function conditionChanges(
  old: readonly AccessRule[],
  fresh: readonly AccessRule[],
  conditionsOf: (rules: readonly AccessRule[]) => readonly Condition[],
): readonly ConditionChange[] {
  const change = (
    fields: readonly string[] | null,
    was: readonly Condition[],
    is: readonly Condition[],
  ): readonly ConditionChange[] => {
    const direction = directionOf(was, is);
    return direction === null ? [] : [{ fields, was, is, direction }];
  };
  const whole = change(null, conditionsOf(old), conditionsOf(fresh));
  if (old.length === 1 && fresh.length === 1) return whole;
  const granting = (rules: readonly AccessRule[], field: string) =>
    rules.filter(({ fields }) => fields.includes(field));
  const fields = [...new Set(fresh.flatMap((rule) => rule.fields))].sort().flatMap((field) => {
    const [was, is] = [granting(old, field), granting(fresh, field)];
    const isWhole = was.length === old.length && is.length === fresh.length;
    return was.length === 0 || isWhole ? [] : [{ field, was: conditionsOf(was), is: conditionsOf(is) }];
  });
  const groups = Map.groupBy(fields, ({ was, is }) => JSON.stringify([was, is]));
  const grantChanges = [...groups.values()].flatMap((group) => {
    const [first] = group;
    const names = group.map(({ field }) => field);
    return first === undefined ? [] : change(names, first.was, first.is);
  });
  return [...whole, ...grantChanges];
}

/** Null when the two reach the same rows, as far as their forms tell. */
function directionOf(was: readonly Condition[], is: readonly Condition[]): Direction | null {
  if (isDeepStrictEqual(was, is)) return null;
  const within = (inner: readonly Condition[], outer: readonly Condition[]): boolean =>
    inner.every((condition) => outer.some((other) => implies(condition, other)));
  const [grows, shrinks] = [within(was, is), within(is, was)];
  if (grows && shrinks) return null;
  return grows ? 'widening' : shrinks ? 'narrowing' : 'unclear';
}
