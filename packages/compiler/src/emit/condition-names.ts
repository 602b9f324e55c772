/** Names for the conditions that rules of an access class have in common. */
import type { CollectionAccess, Condition, Operand } from '@tablewright/runtime/language';
import { shortHash } from '../print/hash.ts';
import { camelCase, uniqueNames } from '../print/identifier.ts';
import { canonicalJson } from '../print/json.ts';

/** A condition that stands in a file once, under a name. */
export interface NamedCondition {
  readonly name: string;
  readonly condition: Condition;
}

/** Names of conditions. */
export interface ConditionNames {
  /** In the order in which they can be declared: after the conditions that are parts of them. */
  readonly conditions: readonly NamedCondition[];
  /** Null for a condition that stands there once only. */
  nameOf(condition: Condition): string | null;
}

/** Names the conditions that several rules have. A name tells what its condition says; none of `taken` is used. */
export function conditionNames(access: readonly CollectionAccess[], taken: readonly string[]): ConditionNames {
  const counts = new Map<string, { readonly condition: Condition; count: number }>();
  for (const condition of access.flatMap(conditionsOf)) {
    if (isConstant(condition)) continue;
    const key = keyOf(condition);
    const entry = counts.get(key) ?? { condition, count: 0 };
    counts.set(key, entry);
    entry.count += 1;
  }
  const common = [...counts].filter(([, { count }]) => count > 1);
  const formatted = common.map(([, { condition }]) => `where_${wordsOf(condition)}`);
  const titles = common.map(([key], index) => {
    const title = formatted[index] ?? '';
    return formatted.indexOf(title) === formatted.lastIndexOf(title) ? title : `${title}_${shortHash(key)}`;
  });
  const names = uniqueNames(titles, camelCase, (name) => name, new Set(taken));
  const named = new Map(common.map(([key], index) => [key, names.get(titles[index] ?? '') ?? '']));
  return {
    conditions: common
      // A part is shorter than the whole.
      .toSorted(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))
      .map(([key, { condition }]) => ({ name: named.get(key) ?? '', condition })),
    nameOf: (condition) => (named.size === 0 || isConstant(condition) ? null : (named.get(keyOf(condition)) ?? null)),
  };
}

/** True for the conditions that every row meets, or none. */
export function isConstant(condition: Condition): boolean {
  return (condition.kind === 'and' || condition.kind === 'or') && condition.of.length === 0;
}

const keys = new WeakMap<Condition, string>();

function keyOf(condition: Condition): string {
  const key = keys.get(condition) ?? canonicalJson(condition);
  keys.set(condition, key);
  return key;
}

function conditionsOf({
  read = [],
  create = [],
  update = [],
  delete: remove = [],
}: CollectionAccess): readonly Condition[] {
  const checks = [...create, ...update].flatMap(({ check }) => (check === null ? [] : [check]));
  return [...[...read, ...create, ...update, ...remove].map(({ where }) => where), ...checks];
}

/** `created_by_is_current_user`. */
function wordsOf(condition: Condition): string {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.of.map(wordsOf).join(`_${condition.kind}_`);
    case 'compare': {
      const operator = condition.operator === '_eq' ? 'is' : condition.operator;
      return `${condition.function ?? ''}_${condition.field}_${operator}_${operandWords(condition.operand)}`;
    }
    case 'related': {
      const { relation, quantifier, where } = condition;
      return `${quantifier === 'one' ? '' : quantifier}_${relation}_${wordsOf(where)}`;
    }
  }
}

function operandWords(operand: Operand): string {
  if (operand.kind === 'now') return 'now';
  if (operand.kind === 'caller') return `current_${operand.of}_${operand.path.join('_')}`;
  return typeof operand.value === 'string' ? operand.value : JSON.stringify(operand.value);
}
