import { hash } from 'node:crypto';
import type { JsonValue } from '@tablewright/runtime/language';
import { compareText, sortedBy } from '../../order.ts';
import { exactValue } from '../yaml/placed-value.ts';
import type { Action, PermissionDocument, RoleSource, RuleSource } from './permission-document.ts';

/** A rule without its places, in the one form that all ways to write it have in common. */
export interface PlainRule {
  readonly role: string;
  readonly collection: string;
  readonly action: Action;
  /** Null: none are listed. */
  readonly fields: readonly string[] | null;
  /** Null: every row. */
  readonly filter: JsonValue;
  /** Null: an updated row must still match the filter. */
  readonly validation: JsonValue;
  readonly presets: Readonly<Record<string, JsonValue>>;
  /** Absent where it removes nothing for good. */
  readonly purge?: true;
}

/** The rules of a document by role, collection and action; those of one action in their order. */
export function plainRules({ rules }: PermissionDocument): readonly PlainRule[] {
  return rules
    .map(plainRule)
    .map((rule) => ({ rule, group: groupOf(rule) }))
    .sort((a, b) => compareText(a.group, b.group))
    .map(({ rule }) => rule);
}

/** Group of rules for one action, as one text. */
function groupOf({ role, collection, action }: Pick<PlainRule, 'role' | 'collection' | 'action'>): string {
  return JSON.stringify([role, collection, action]);
}

function plainRule({ role, collection, action, fields, filter, validation, presets, purge }: RuleSource): PlainRule {
  return {
    role: role.name,
    collection: collection.name,
    action,
    // Those of a delete mean nothing.
    fields: fields === null || action === 'delete' ? null : fields.map(({ name }) => name),
    filter: filter === null || isEmpty(filter.value) ? null : inOrder(exactValue(filter)),
    validation: validation === null ? null : inOrder(exactValue(validation)),
    presets: Object.fromEntries(
      presets
        .map(({ field, value }) => [field.name, inOrder(exactValue(value))] as const)
        .toSorted(([a], [b]) => compareText(a, b)),
    ),
    ...(purge && { purge }),
  };
}

function isEmpty(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}

/** With the members of objects in one order: a database does not keep that in which they were written. */
function inOrder(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const entries = Object.entries(value).toSorted(([a], [b]) => compareText(a, b));
  return Object.fromEntries(entries.map(([name, member]) => [name, inOrder(member)]));
}

/** SHA-256, in hexadecimal, of what a document means: the same however and wherever it is written. */
export function digestPermissions(document: PermissionDocument): string {
  const roles = sortedBy(document.roles, ({ name }) => name).map(({ name, description, admin, app }) => [
    name,
    description,
    admin,
    app,
  ]);
  return hash('sha256', JSON.stringify([roles, plainRules(document)]), 'hex');
}

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
