import { compareText } from '../../order.ts';
import type { PermissionDocument, RoleSource } from './permission-document.ts';
import { groupOf, type PlainRule, plainRules } from './plain-rules.ts';

/** One thing in which two documents differ: a role, or all rules of one role, collection and action. */
export type PermissionDifference =
  | { readonly kind: 'role'; readonly before: RoleSource | null; readonly after: RoleSource | null }
  | { readonly kind: 'rules'; readonly before: readonly PlainRule[]; readonly after: readonly PlainRule[] };

/** Changes that make `before` mean the same as `after`: roles by name, then rules. Empty if they mean the same. */
export function comparePermissions(
  before: PermissionDocument,
  after: PermissionDocument,
): readonly PermissionDifference[] {
  return [...compareRoles(before.roles, after.roles), ...compareRules(plainRules(before), plainRules(after))];
}

function compareRoles(before: readonly RoleSource[], after: readonly RoleSource[]): readonly PermissionDifference[] {
  const [old, requested] = [byName(before), byName(after)];
  const names = [...new Set([...old.keys(), ...requested.keys()])].toSorted(compareText);
  return names.flatMap((name): readonly PermissionDifference[] => {
    const [oldRole = null, other = null] = [old.get(name), requested.get(name)];
    return sameRole(oldRole, other) ? [] : [{ kind: 'role', before: oldRole, after: other }];
  });
}

function byName(roles: readonly RoleSource[]): ReadonlyMap<string, RoleSource> {
  return new Map(roles.map((role) => [role.name, role]));
}

function sameRole(left: RoleSource | null, other: RoleSource | null): boolean {
  if (left === null || other === null) return left === other;
  return left.admin === other.admin && left.app === other.app && left.description === other.description;
}

function compareRules(before: readonly PlainRule[], after: readonly PlainRule[]): readonly PermissionDifference[] {
  const [old, requested] = [Map.groupBy(before, groupOf), Map.groupBy(after, groupOf)];
  const groups = [...new Set([...old.keys(), ...requested.keys()])].toSorted(compareText);
  return groups.flatMap((group): readonly PermissionDifference[] => {
    const [oldRules = [], other = []] = [old.get(group), requested.get(group)];
    return JSON.stringify(oldRules) === JSON.stringify(other)
      ? []
      : [{ kind: 'rules', before: oldRules, after: other }];
  });
}
