/** The rules of one role: which rows they reach, what written rows must be like, and what the server sets. */
import { isDeepStrictEqual } from 'node:util';
import { implies } from '@platform/introspect';
import {
  type AccessRule,
  always,
  type CollectionAccess,
  type Condition,
  type WriteRule,
} from '@platform/runtime/contract';
import { conditionText, operandText } from '../print/condition.ts';
import type { Direction } from './change.ts';
import { pairs } from './pair.ts';
import type { RenameIndex } from './renames.ts';
import { type Found, operationsIn, type Side } from './side.ts';

const actions = ['read', 'create', 'update', 'delete'] as const;

type Action = (typeof actions)[number];

/** Compares the rules that a role has on both sides; actions that it gains or loses are told elsewhere. */
export function compareRights(before: Side, after: Side, renames: RenameIndex): readonly Found[] {
  if (before.access.admin || after.access.admin) return [];
  const named = (side: Side) => side.access.collections.map((one) => ({ ...one, name: one.collection }));
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
  const told = (found: Omit<Found, 'subject' | 'operations'>): Found => ({ subject, operations: places, ...found });
  return [
    ...(action === 'create' ? [] : rowChanges(action, old, fresh)).map(told),
    ...checkChanges(action, old, fresh).map(told),
    ...presetChanges(action, old, fresh).map(told),
  ];
}

type Told = Omit<Found, 'subject' | 'operations'>;

/** Rows of a set of rules are those of any of them. */
function rowChanges(action: Action, old: readonly AccessRule[], fresh: readonly AccessRule[]): readonly Told[] {
  const [was, is] = [old.map(({ where }) => where), fresh.map(({ where }) => where)];
  const direction = directionOf(was, is);
  if (direction === null) return [];
  const rule = { widening: 'rows-widened', narrowing: 'rows-narrowed', unclear: 'rows-changed' } as const;
  const message = `Rows for ${action}: ${textOf(is)}; they were: ${textOf(was)}.`;
  return [{ rule: rule[direction], message, rights: direction }];
}

function checkChanges(action: Action, old: readonly AccessRule[], fresh: readonly AccessRule[]): readonly Told[] {
  const checks = (rules: readonly AccessRule[]): readonly Condition[] =>
    rules.filter(isWrite).map(({ check, where }) => check ?? (action === 'create' ? always : where));
  const explicit = [...old, ...fresh].filter(isWrite).some(({ check }) => check !== null);
  // Without a check of its own an updated row must meet the rows' condition, whose change is told.
  if (!explicit) return [];
  const [was, is] = [checks(old), checks(fresh)];
  const direction = directionOf(was, is);
  if (direction === null) return [];
  const rule = {
    widening: 'validation-loosened',
    narrowing: 'validation-tightened',
    unclear: 'validation-changed',
  } as const;
  const message = `Written rows for ${action} must meet: ${textOf(is)}; they had to meet: ${textOf(was)}.`;
  return [{ rule: rule[direction], message, rights: direction }];
}

function presetChanges(action: Action, old: readonly AccessRule[], fresh: readonly AccessRule[]): readonly Told[] {
  const presets = (rules: readonly AccessRule[]) =>
    rules
      .filter(isWrite)
      .flatMap(({ presets: own }) => own.map(({ field, value }) => ({ name: field, text: operandText(value) })));
  return pairs(presets(old), presets(fresh)).flatMap(({ name, was, is }): readonly Told[] => {
    if (was === undefined)
      return [
        { rule: 'preset-added', message: `The server sets "${name}" to ${is?.text} (${action}).`, rights: 'unclear' },
      ];
    if (is === undefined)
      return [
        { rule: 'preset-removed', message: `The server no longer sets "${name}" (${action}).`, rights: 'unclear' },
      ];
    if (was.text === is.text) return [];
    return [
      {
        rule: 'preset-changed',
        message: `The server sets "${name}" to ${is.text}, not ${was.text} (${action}).`,
        rights: 'unclear',
      },
    ];
  });
}

function isWrite(rule: AccessRule | WriteRule): rule is WriteRule {
  return 'check' in rule;
}

/** Null when the two reach the same rows, as far as their forms tell. */
function directionOf(was: readonly Condition[], is: readonly Condition[]): Direction | null {
  if (isDeepStrictEqual(was, is)) return null;
  const within = (inner: readonly Condition[], outer: readonly Condition[]): boolean =>
    inner.every((one) => outer.some((other) => implies(one, other)));
  const [grows, shrinks] = [within(was, is), within(is, was)];
  if (grows && shrinks) return null;
  return grows ? 'widening' : shrinks ? 'narrowing' : 'unclear';
}

function textOf(conditions: readonly Condition[]): string {
  return conditions.map(conditionText).join(' or ');
}

/** The rule under the new names of its own collection's fields; what it looks through relations at keeps its names. */
function withNames<T extends AccessRule>(rule: T, renamed: ReadonlyMap<string, string>): T {
  return renamed.size === 0 ? rule : { ...rule, where: rename(rule.where, renamed) };
}

function rename(condition: Condition, names: ReadonlyMap<string, string>): Condition {
  if (condition.kind === 'compare') return { ...condition, field: names.get(condition.field) ?? condition.field };
  if (condition.kind === 'related')
    return { ...condition, relation: names.get(condition.relation) ?? condition.relation };
  return { ...condition, of: condition.of.map((part) => rename(part, names)) };
}
