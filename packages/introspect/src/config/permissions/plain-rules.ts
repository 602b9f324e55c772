import type { JsonValue } from '@tablewright/runtime/language';
import { compareText } from '../../order.ts';
import { exactValue } from '../yaml/placed-value.ts';
import type { Action, PermissionDocument, RuleSource } from './permission-document.ts';

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
export function groupOf({ role, collection, action }: Pick<PlainRule, 'role' | 'collection' | 'action'>): string {
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
