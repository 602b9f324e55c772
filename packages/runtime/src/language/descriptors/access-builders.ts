/** One-line calls of which generated files of permissions consist. */

import { always, type Condition, type Operand } from '../conditions/condition.ts';
import type { Operator } from '../operators/index.ts';
import type { FieldFunction } from '../types/definition.ts';
import { derivedOnce } from '../values/once.ts';
import type { JsonValue } from '../values/parse-text.ts';
import type { AccessClass, AccessRule, CollectionAccess, WriteRule } from './access.ts';
import type { CollectionDescriptor } from './collection.ts';

/** A rule as generated files state it. `*` are all fields and relations of the collection. */
interface GrantedRule {
  readonly fields: '*' | readonly string[];
  /** Default: every row. */
  readonly where?: Condition;
}

/** A rule for create and update. */
interface GrantedWrite extends GrantedRule {
  /** Default: the written row must still match `where`. */
  readonly check?: Condition;
  readonly presets?: WriteRule['presets'];
}

/** Actions on a collection; `*` grants all fields of all rows, and an absent one is forbidden. */
interface GrantedActions {
  readonly read?: '*' | readonly GrantedRule[];
  readonly create?: '*' | readonly GrantedWrite[];
  readonly update?: '*' | readonly GrantedWrite[];
  readonly delete?: '*' | readonly (Pick<GrantedRule, 'where'> & Pick<AccessRule, 'purge'>)[];
}

/**
 * States the permissions of an access class.
 * @example accessClass({ name: 'public', roles: ['public'], admin: false, collections: [grant(articles, { read: '*' })] })
 */
export function accessClass(facts: AccessClass): AccessClass {
  return facts;
}

/**
 * States what an access class may do with a collection.
 * @example grant(articles, { read: '*', create: [{ fields: ['name'], check: compare('name', '_nempty', true) }] })
 */
export function grant(
  collection: CollectionDescriptor,
  { read, create, update, delete: remove }: GrantedActions,
): CollectionAccess {
  return {
    collection: collection.name,
    ...(read && { read: rulesOf<GrantedRule>(read).map((rule) => readRule(collection, rule)) }),
    ...(create && { create: rulesOf<GrantedWrite>(create).map((rule) => writeRule(collection, rule)) }),
    ...(update && { update: rulesOf<GrantedWrite>(update).map((rule) => writeRule(collection, rule)) }),
    ...(remove && {
      delete: (remove === '*' ? [{}] : remove).map(deleteRule),
    }),
  };
}

function deleteRule({ where = always, purge }: Pick<GrantedRule, 'where'> & Pick<AccessRule, 'purge'>): AccessRule {
  return { fields: [], where, ...(purge && { purge }) };
}

function rulesOf<Rule>(rules: '*' | readonly Rule[]): readonly (Rule | typeof everything)[] {
  return rules === '*' ? [everything] : rules;
}

const everything = { fields: '*' } as const satisfies GrantedWrite;

function readRule(collection: CollectionDescriptor, { fields, where = always }: GrantedRule): AccessRule {
  return { fields: fields === '*' ? allNames(collection) : fields, where };
}

function writeRule(collection: CollectionDescriptor, rule: GrantedWrite): WriteRule {
  const { check = null, presets = [] } = rule;
  return { ...readRule(collection, rule), check, presets };
}

/** Names of all fields and relations, one list for all rules that grant them. */
export const allNames = derivedOnce(({ fields, relations }: CollectionDescriptor): readonly string[] => [
  ...new Set([...fields, ...relations].map(({ name }) => name)),
]);

/**
 * A comparison of a field with a value, or with an operand such as `caller('user')`.
 * @example compare('status', '_eq', 'published')
 */
export function compare(
  field: string,
  operator: Operator,
  operand: Operand | Exclude<JsonValue, Readonly<Record<string, unknown>>>,
  more: { readonly function?: FieldFunction; readonly path?: Extract<Operand, { kind: 'literal' }> } = {},
): Condition {
  return { kind: 'compare', field, ...more, operator, operand: isOperand(operand) ? operand : literal(operand) };
}

function isOperand(operand: Operand | JsonValue): operand is Operand {
  return typeof operand === 'object' && operand !== null && !Array.isArray(operand);
}

function literal(value: JsonValue): Operand {
  return { kind: 'literal', value };
}

/**
 * A condition on the items that a relation leads to; `item` is the collection that a many-to-any leads to.
 * @example related('article_id', 'one', compare('status', '_eq', 'published'))
 */
export function related(
  relation: string,
  quantifier: 'one' | 'some' | 'none',
  where: Condition,
  item?: string,
): Condition {
  return { kind: 'related', relation, quantifier, ...(item !== undefined && { item }), where };
}

/**
 * All of the conditions.
 * @example and(compare('a', '_eq', 1), compare('b', '_eq', 2))
 */
export function and(...conditions: readonly Condition[]): Condition {
  return { kind: 'and', of: conditions };
}

/**
 * Any of the conditions.
 * @example or(compare('a', '_eq', 1), compare('b', '_eq', 2))
 */
export function or(...conditions: readonly Condition[]): Condition {
  return { kind: 'or', of: conditions };
}

/**
 * A value of the caller; `path` are the fields that lead on from it.
 * @example compare('created_by', '_eq', caller('user'))
 */
export function caller(value: 'user' | 'role', ...path: readonly string[]): Operand {
  return { kind: 'caller', of: value, path };
}

/**
 * The time of the request, with a duration of ISO 8601 added.
 * @example compare('published_at', '_lt', now('-P1D'))
 */
export function now(offset = 'P0D'): Operand {
  return { kind: 'now', offset };
}
