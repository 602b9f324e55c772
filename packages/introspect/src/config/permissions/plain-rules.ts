import { hash } from 'node:crypto';
import type { JsonValue } from '@tablewright/runtime/language';
import { Document, isCollection, isMap, isNode, isScalar, type Node, parseDocument, type ScalarTag, visit } from 'yaml';
import { compareText, sortedBy } from '../../order.ts';
import { exactValue } from '../yaml/placed-value.ts';
import type {
  Action,
  CallSource,
  PermissionDocument,
  PresetSource,
  RoleSource,
  RuleSource,
} from './permission-document.ts';

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
    presets: valuesOf(presets),
    ...(purge && { purge }),
  };
}

function valuesOf(values: readonly PresetSource[]): Readonly<Record<string, JsonValue>> {
  return Object.fromEntries(
    values
      .map(({ field, value }) => [field.name, inOrder(exactValue(value))] as const)
      .toSorted(([a], [b]) => compareText(a, b)),
  );
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

/**
 * Prints a document as the permissions file that reads as the same again: sorted, so that a change shows as a diff. With the
 * text that the file has before, its comments stay where what they are about stays.
 */
export function printPermissions(document: PermissionDocument, before = ''): string {
  const roles = document.roles.toSorted((a, b) => compareText(a.name, b.name));
  const content = {
    ...(roles.length > 0 && {
      roles: Object.fromEntries(
        roles.map(({ name, description, admin, app }) => [
          name,
          { ...(description !== null && { description }), ...(admin && { admin }), ...(app && { app }) },
        ]),
      ),
    }),
    permissions: nested(plainRules(document)),
    ...(document.functions !== undefined && { functions: callsByRole(document.functions) }),
  };
  const yaml = new Document(content, { version: '1.2', customTags: (tags) => [number, ...tags] });
  // Roles and actions stand on lines of their own, what they are in one line each.
  visit(yaml, {
    Pair(_, pair, path) {
      const depth = path.filter((ancestor) => isCollection(ancestor)).length;
      if (!isCollection(pair.value)) return;
      if (depth >= deepestBlock || pair.value.items.length === 0) pair.value.flow = true;
    },
  });
  keepComments(yaml, before);
  return yaml.toString({ lineWidth: 120, flowCollectionPadding: true });
}

/** Numbers that a double does not hold are printed as they are written. */
const number: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => JSON.isRawJSON(value),
  resolve: (text) => text,
  stringify: ({ value }) => (JSON.isRawJSON(value) ? value.rawJSON : String(value)),
};

/** Levels down to the rules of a collection: section, role, collection. */
const deepestBlock = 4;

/** Rights to call functions, in the order of the file: a list of names, or names with the arguments that are set. */
function callsByRole(calls: readonly CallSource[]): JsonValue {
  return Object.fromEntries(
    [...Map.groupBy(calls, ({ role }) => role.name)].map(([role, granted]) => {
      const names = granted.map((call) => call.function.name);
      if (granted.every(({ args }) => args.length === 0)) return [role, names];
      const entries = granted.map(({ args }, index) => [names[index], args.length === 0 || { args: valuesOf(args) }]);
      return [role, Object.fromEntries(entries)];
    }),
  );
}

function nested(rules: readonly PlainRule[]): JsonValue {
  return tree(
    rules,
    ({ role }) => role,
    (ofRole) =>
      tree(
        ofRole,
        ({ collection }) => collection,
        (ofCollection) =>
          tree(
            ofCollection,
            ({ action }) => action,
            (ofAction) => {
              const written = ofAction.map(writtenRule);
              return written.length === 1 && written[0] !== undefined ? written[0] : written;
            },
          ),
      ),
  );
}

function tree(
  rules: readonly PlainRule[],
  nameOf: (rule: PlainRule) => string,
  contentOf: (rules: readonly PlainRule[]) => JsonValue,
): JsonValue {
  return Object.fromEntries([...Map.groupBy(rules, nameOf)].map(([name, group]) => [name, contentOf(group)]));
}

function writtenRule({ action, fields, filter, validation, presets, purge }: PlainRule): JsonValue {
  const hasPresets = Object.keys(presets).length > 0;
  const isEverything = action === 'delete' ? fields === null : fields?.length === 1 && fields[0] === '*';
  if (isEverything && filter === null && validation === null && !hasPresets && !purge) return true;
  return {
    ...(fields !== null && { fields: fields.length === 1 && fields[0] === '*' ? '*' : fields }),
    ...(filter !== null && { filter }),
    ...(validation !== null && { validation }),
    ...(hasPresets && { presets }),
    ...(purge && { purge }),
  };
}

/**
 * Brings the comments of an earlier text of a YAML file to a document that is about to take its place. These stand
 * above, beside or after entries that are still there under the same names. Those of what is gone, or within lists, go.
 */
function keepComments(document: Document, before: string): void {
  const earlier = parseDocument(before);
  document.commentBefore = earlier.commentBefore;
  document.comment = earlier.comment;
  bring(earlier.contents, document.contents);
}

function bring(from: unknown, to: unknown): void {
  if (!isNode(from) || !isNode(to)) return;
  bringOwn(from, to);
  if (!isMap(from) || !isMap(to)) return;
  for (const { key, value } of to.items) {
    const same = from.items.find((pair) => isScalar(pair.key) && isScalar(key) && pair.key.value === key.value);
    if (same === undefined) continue;
    if (isNode(same.key) && isNode(key)) bringOwn(same.key, key);
    bring(same.value, value);
  }
}

function bringOwn(from: Node, to: Node): void {
  if (from.commentBefore) to.commentBefore = from.commentBefore;
  if (from.comment) to.comment = from.comment;
}
