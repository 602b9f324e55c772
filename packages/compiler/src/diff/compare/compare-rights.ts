/** The rules of one role: which rows they reach, what written rows must be like, and what the server sets. */

import { isDeepStrictEqual } from 'node:util';
import { implies } from '@tablewright/introspect';
import {
  type AccessRule,
  always,
  type CollectionAccess,
  type Condition,
  type FunctionAccess,
  type WriteRule,
} from '@tablewright/runtime/language';
import { conditionText, operandText } from '../../print/condition.ts';
import type { RenameIndex } from '../renames.ts';
import type { Direction, RuleId } from '../rules.ts';
import { type Found, operationsIn, pairs, quoted, type Side } from '../side.ts';

const actions = ['read', 'create', 'update', 'delete'] as const;

type Action = (typeof actions)[number];

/** Compares the rules that a role has on both sides; actions that it gains or loses are told elsewhere. */
export function comparePermissions(before: Side, after: Side, renames: RenameIndex): readonly Found[] {
  if (before.access.admin || after.access.admin) return [];
  const named = (side: Side) => side.access.collections.map((granted) => ({ ...granted, name: granted.collection }));
  return pairs(named(before), named(after), renames.collections).flatMap(({ was, is }) =>
    was === undefined || is === undefined
      ? []
      : actions.flatMap((action) => compareAction(before, after, was, is, action, renames)),
  );
}

function compareAction(
  before: Side,
  after: Side,
  was: CollectionAccess,
  is: CollectionAccess,
  action: Action,
  renames: RenameIndex,
): readonly Found[] {
  const renamed = renames.members.get(is.collection) ?? new Map<string, string>();
  const old = (was[action] ?? []).map((rule) => withNames(rule, renamed));
  const fresh = is[action] ?? [];
  if (old.length === 0 || fresh.length === 0) return [];
  const subject = is.collection;
  const operations = operationsIn(before, was.collection, action);
  const places = operations.length > 0 ? operations : operationsIn(after, is.collection, action);
  const complete = (found: Omit<Found, 'subject' | 'operations'>): Found => ({ subject, operations: places, ...found });
  const both: RulesOfBoth = { action, old, fresh };
  return [
    ...(action === 'create' ? [] : rowChanges(both)),
    ...(action === 'delete' ? purgeChanges(both) : []),
    ...checkChanges(both),
    ...presetChanges(both),
  ].map(complete);
}

/** The rules of an action before and after. */
interface RulesOfBoth {
  readonly action: Action;
  readonly old: readonly AccessRule[];
  readonly fresh: readonly AccessRule[];
}

type PermissionFinding = Omit<Found, 'subject' | 'operations'>;

/** Rows of a set of rules are those of any of them. */
function rowChanges({ action, old, fresh }: RulesOfBoth): readonly PermissionFinding[] {
  const rule = { widening: 'rows-widened', narrowing: 'rows-narrowed', unclear: 'rows-changed' } as const;
  const fieldRules = {
    widening: 'field-rows-widened',
    narrowing: 'field-rows-narrowed',
    unclear: 'field-rows-changed',
  } as const;
  return conditionChanges(old, fresh, (rules) => rules.map(({ where }) => where)).map((change) => {
    const message = `Rows${ofFields(change)} for ${action}: ${textOf(change.is)}; they were: ${textOf(change.was)}.`;
    return { ...ruleOf(change, change.fields === null ? rule : fieldRules), message };
  });
}

function checkChanges({ action, old, fresh }: RulesOfBoth): readonly PermissionFinding[] {
  const checks = (rules: readonly AccessRule[]): readonly Condition[] =>
    rules.filter(isWrite).map(({ check, where }) => check ?? (action === 'create' ? always : where));
  const explicit = [...old, ...fresh].filter(isWrite).some(({ check }) => check !== null);
  // Without a check of its own an updated row must meet the rows' condition, whose change is told.
  if (!explicit) return [];
  const rule = {
    widening: 'validation-loosened',
    narrowing: 'validation-tightened',
    unclear: 'validation-changed',
  } as const;
  const found = conditionChanges(old, fresh, checks).map((change) => {
    const [now, then] = [textOf(change.is), textOf(change.was)];
    const message = `Written rows${ofFields(change)} for ${action} must meet: ${now}; they had to meet: ${then}.`;
    return { ...ruleOf(change, rule), message };
  });
  if (found.length > 0 || rowChanges({ action, old, fresh }).length > 0) return found;
  return conditionChanges(old, fresh, bothOf).map((change) => {
    const message = `Which rows${ofFields(change)} must meet what after ${action} has changed.`;
    return { ...ruleOf(change, rule), message };
  });
}

/** Rows before and after a write, as one condition of each rule: two rules can change places in one of them only. */
function bothOf(rules: readonly AccessRule[]): readonly Condition[] {
  return rules.filter(isWrite).map(({ check, where }) => ({ kind: 'and', of: [ofStored(where), check ?? where] }));
}

/** Under names that no field has, so that nothing about the stored row follows from the written one. */
function ofStored(condition: Condition): Condition {
  if (condition.kind === 'compare') return { ...condition, field: `stored ${condition.field}` };
  if (condition.kind === 'related') return { ...condition, relation: `stored ${condition.relation}` };
  return { ...condition, of: condition.of.map(ofStored) };
}

function ofFields({ fields }: ConditionChange): string {
  return fields === null ? '' : ` of ${quoted(fields)}`;
}

function ruleOf(
  { direction }: ConditionChange,
  rule: Readonly<Record<Direction, RuleId>>,
): Pick<PermissionFinding, 'rule' | 'rights'> {
  return { rule: rule[direction], rights: direction };
}

/** Removal for good, beside archiving. */
function purgeChanges({ old, fresh }: RulesOfBoth): readonly PermissionFinding[] {
  const [was, is] = [old, fresh].map((rules) => rules.some(({ purge }) => purge === true));
  if (was === is) return [];
  return is
    ? [{ rule: 'purge-granted', message: 'DELETE can remove items for good.', rights: 'widening' }]
    : [{ rule: 'purge-revoked', message: 'DELETE cannot remove items for good any more.', rights: 'narrowing' }];
}

function presetChanges({ action, old, fresh }: RulesOfBoth): readonly PermissionFinding[] {
  const presets = (rules: readonly AccessRule[]): readonly SetValue[] =>
    rules.filter(isWrite).flatMap((rule) => rule.presets.map(({ field, value }) => ({ name: field, value })));
  return compareSetValues(presets(old), presets(fresh), action);
}

/** A field, or an argument of a function, that the server sets. */
type SetValue = NonNullable<FunctionAccess['args']>[number];

/** By name, also where several rules set it. */
export function compareSetValues(
  old: readonly SetValue[],
  fresh: readonly SetValue[],
  action: string,
): readonly PermissionFinding[] {
  const texts = (all: readonly SetValue[]) =>
    [...Map.groupBy(all, ({ name }) => name)].map(([name, same]) => ({
      name,
      text: [...new Set(same.map(({ value }) => operandText(value)))].sort().join(' or '),
    }));
  const found = (rule: RuleId, message: string) =>
    [{ rule, message: `${message} (${action}).`, rights: 'unclear' }] as const;
  return pairs(texts(old), texts(fresh)).flatMap(({ name, was, is }): readonly PermissionFinding[] => {
    if (was === undefined) return found('preset-added', `The server sets "${name}" to ${is?.text}`);
    if (is === undefined) return found('preset-removed', `The server no longer sets "${name}"`);
    if (was.text === is.text) return [];
    return found('preset-changed', `The server sets "${name}" to ${is.text}, not ${was.text}`);
  });
}

function isWrite(rule: AccessRule | WriteRule): rule is WriteRule {
  return 'check' in rule;
}

function textOf(conditions: readonly Condition[]): string {
  return conditions.map(conditionText).join(' or ');
}

/** The rule under the new names of its own collection's fields; names behind relations stay. */
function withNames<T extends AccessRule | WriteRule>(rule: T, names: ReadonlyMap<string, string>): T {
  if (names.size === 0) return rule;
  const named = (name: string): string => names.get(name) ?? name;
  return {
    ...rule,
    fields: rule.fields.map(named),
    where: rename(rule.where, names),
    ...(isWrite(rule) && {
      check: rule.check && rename(rule.check, names),
      presets: rule.presets.map((preset) => ({ ...preset, field: named(preset.field) })),
    }),
  };
}

function rename(condition: Condition, names: ReadonlyMap<string, string>): Condition {
  if (condition.kind === 'compare') return { ...condition, field: names.get(condition.field) ?? condition.field };
  if (condition.kind === 'related')
    return { ...condition, relation: names.get(condition.relation) ?? condition.relation };
  return { ...condition, of: condition.of.map((part) => rename(part, names)) };
}

/** Conditions of all rules of an action, or of those that grant some fields, before and after. */
interface ConditionChange {
  /** Null for all rules. */
  readonly fields: readonly string[] | null;
  readonly was: readonly Condition[];
  readonly is: readonly Condition[];
  readonly direction: Direction;
}

/**
 * A field is granted on the rows of the rules that list it. So the rows that all rules together reach can stay while
 * those of a field change. Fields with the same changes are put together, and those of which all is said left out.
 */
function conditionChanges(
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
