/** Rules that change nothing: empty, ignored, impossible, repeated or unmatched ones, and roles without any. */
import { isDeepStrictEqual } from 'node:util';
import { always, type Condition } from '@tablewright/runtime/language';
import { type FactsIndex, indexFacts } from '../../conditions/column-facts.ts';
import { callerValues, findContradiction, implies } from '../../conditions/contradiction.ts';
import type { PlacedValue, RuleSource } from '../../config/permissions/permission-document.ts';
import type { Diagnostic } from '../../diagnostic.ts';
import { collectionsByName, tablesById } from '../../passes/lookup.ts';
import type { Collection, Permission, Table } from '../../schema.ts';
import { keyOf, pairRules, type Rule, type RuledPermission } from '../rule.ts';

/** A rule without fields grants nothing; only `delete` needs none. */
export const emptyRules: Rule = (_schema, { permissions }) =>
  permissions.rules
    .filter(({ action, fields }) => action !== 'delete' && (fields === null || fields.length === 0))
    .map(({ action, place: location }) => ({
      code: 'empty-rule',
      severity: 'warning' as const,
      place: location,
      message: `The rule for "${action}" lists no fields, so it grants nothing.`,
      hint: 'Write `fields: "*"` for all fields, or list them.',
    }));

/** Deleting takes the whole row, so a rule for it has no use for fields (API specification, section 8.1). */
export const ignoredFields: Rule = (_schema, { permissions }) =>
  permissions.rules
    .filter(({ action, fields }) => action === 'delete' && fields?.some(({ name }) => name !== '*'))
    .map(({ place: location, fields }) => ({
      code: 'ignored-fields',
      severity: 'warning' as const,
      place: fields?.[0]?.place ?? location,
      message: 'A rule for "delete" lists fields, which have no effect: it deletes whole rows.',
      hint: 'Remove `fields`; say under `filter` which rows.',
    }));

/** A rule for an impossible action: the database does not allow it, or the items have no key to name them by. */
export const impossibleRules: Rule = (schema, { permissions }) => {
  const collections = collectionsByName(schema.collections);
  const byId = tablesById(schema.tables);
  return permissions.rules.flatMap((rule) => {
    const collection = collections.get(rule.collection.name);
    const table = byId.get(collection?.table ?? '');
    if (collection === undefined || table === undefined) return [];
    const reason = objectionTo(rule, collection, table);
    return reason === null ? [] : [impossible(rule, reason)];
  });
};

/** Null where the action is possible. */
function objectionTo({ action }: RuleSource, { name, key, singleton }: Collection, { writable }: Table): string | null {
  if (action === 'read') return null;
  const isAllowed = action === 'create' ? writable.insert : writable[action];
  if (!isAllowed) return `The database does not allow to ${action} rows of "${name}"`;
  if (key.length === 0) return `"${name}" has no key and can only be listed`;
  return singleton && action === 'delete' ? `"${name}" is a singleton, which cannot be deleted` : null;
}

function impossible({ place: location }: RuleSource, reason: string) {
  return {
    code: 'impossible-rule',
    severity: 'warning' as const,
    place: location,
    message: `${reason}, so the rule has no effect.`,
    hint: 'Remove it.',
  };
}

/** A rule that says what another one says already. */
export const repeatedRules: Rule = (schema, { permissions }) => {
  const groups = Map.groupBy(pairRules(schema, permissions), ({ permission }) => keyOf(permission));
  return [...groups.values()].flatMap((group) => group.flatMap((rule, index) => repeatedProblem(rule, index, group)));
};

function repeatedProblem(
  rule: RuledPermission,
  index: number,
  group: readonly RuledPermission[],
): readonly Diagnostic[] {
  const { source, permission } = rule;
  if (permission.action !== 'delete' && permission.fields.length === 0) return [];
  const same = group.slice(0, index).find((other) => isDeepStrictEqual(other.permission, permission));
  if (same !== undefined) {
    const message = `The rule says the same as the one at ${same.source.place}.`;
    return [{ code: 'repeated-rule', severity: 'warning', place: source.place, message, hint: 'Remove one of them.' }];
  }
  const wider = group.find(
    (other) => !isDeepStrictEqual(other.permission, permission) && isWithin(permission, other.permission),
  );
  if (wider === undefined) return [];
  const message = `The rule grants nothing that the one at ${wider.source.place} does not grant.`;
  return [{ code: 'subsumed-rule', severity: 'info', place: source.place, message, hint: 'Remove it.' }];
}

/** True if one rule grants everything that another does. */
function isWithin(rule: Permission, other: Permission): boolean {
  if (!rule.fields.every((field) => other.fields.includes(field)) || !implies(rule.where, other.where)) return false;
  // Presets of all rules that match are merged, so a rule that sets something is needed for that.
  const sets = rule.presets.length > 0 && !isDeepStrictEqual(rule.presets, other.presets);
  return !sets && implies(checkOf(rule), checkOf(other));
}

/** Condition on the written row; the rules of a create have no stored row to match. */
function checkOf({ action, where, check }: Permission): Condition {
  if (check !== null) return check;
  return action === 'update' ? where : always;
}

/** A condition that no row can meet makes a rule that grants nothing, or a validation that refuses everything. */
export const unmatchedConditions: Rule = (schema, { permissions }) => {
  const index = indexFacts(schema);
  return pairRules(schema, permissions).flatMap((rule) => [
    ...unmatchedProblem(rule, rule.permission.where, rule.source.filter, 'filter', index),
    ...unmatchedProblem(rule, rule.permission.check, rule.source.validation, 'validation', index),
  ]);
};

function unmatchedProblem(
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
  return condition.kind === 'or' && condition.of.length === 0 && !isDeepStrictEqual(value, { _or: [] });
}

/** Requests without a token, and users without a role, have no role whose values could be there. */
function withoutRole(role: string, condition: Condition): string | null {
  const used = callerValues(condition).some((operand) => operand.kind === 'caller' && operand.of === 'role');
  return role === 'public' && used ? 'callers of "public" have no role, so "$CURRENT_ROLE" is always missing' : null;
}

/** A role with `admin: true` may do everything, independent of its rules. */
export const administratorRules: Rule = (schema, { permissions }) => {
  const administrators = new Set(schema.roles.filter(({ admin }) => admin).map(({ name }) => name));
  const ruled = permissions.rules.filter(({ role }) => administrators.has(role.name));
  return [...Map.groupBy(ruled, ({ role }) => role.name)].flatMap(([name, group]) =>
    group.slice(0, 1).map(({ role }) => ({
      code: 'administrator-rules',
      severity: 'warning' as const,
      place: role.place,
      message: `The role "${name}" has \`admin: true\` and may do everything; its rules have no effect.`,
      hint: 'Remove the rules, or `admin: true`.',
    })),
  );
};

/** A role that may do nothing: not even what comes with `app: true`. */
export const rolesWithoutRules: Rule = (_schema, { permissions: { roles, rules, functions = [] } }) => {
  const ruled = new Set([...rules, ...functions].map(({ role }) => role.name));
  return roles
    .filter(({ name, admin, app }) => !admin && !app && !ruled.has(name))
    .map(({ name, place: location }) => ({
      code: 'role-without-rules',
      severity: 'warning' as const,
      place: location,
      message: `The role "${name}" has no rules, so it may do nothing.`,
      hint: 'Write its rules under "permissions".',
    }));
};
