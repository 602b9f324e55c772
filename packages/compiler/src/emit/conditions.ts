/** Prints conditions as calls of the runtime. Properties get one order, as those of a schema file have another. */

import type { CollectionAccess, Condition, Operand } from '@tablewright/runtime/language';
import { findOrCreate } from '@tablewright/runtime/language';
import { type Calls, code, type Value } from '../print/expression.ts';
import { camelCase, uniqueNames } from '../print/identifier.ts';
import { canonicalJson, shortHash } from '../print/json.ts';

/** Makes the functions that state conditions and operands. `nameOf` gives the name that a file has for one. */
export function createConditions(
  { call: build, constant }: Omit<Calls, 'used'>,
  nameOf: (condition: Condition) => string | null = () => null,
) {
  function stateDefinition(condition: Condition): Value {
    switch (condition.kind) {
      case 'and':
      case 'or':
        if (!isConstant(condition)) return build(condition.kind, ...condition.of.map(state));
        return constant(condition.kind === 'and' ? 'always' : 'never');
      case 'compare':
        return stateComparison(condition);
      case 'related': {
        const { relation, quantifier, item, where } = condition;
        return build('related', relation, quantifier, state(where), ...(item === undefined ? [] : [item]));
      }
    }
  }

  function stateComparison(condition: Extract<Condition, { kind: 'compare' }>): Value {
    const { field, path, operator, operand } = condition;
    const more = {
      ...(condition.function !== undefined && { function: condition.function }),
      ...(path !== undefined && { path: stateLiteral(path) }),
    };
    const parameters = [field, operator, stateOperand(operand)];
    return build('compare', ...parameters, ...(Object.keys(more).length > 0 ? [more] : []));
  }

  function state(condition: Condition): Value {
    const name = nameOf(condition);
    return name === null ? stateDefinition(condition) : code(name);
  }

  function stateOperand(operand: Operand): Value {
    if (operand.kind === 'now') return build('now', ...(operand.offset === 'P0D' ? [] : [operand.offset]));
    if (operand.kind === 'caller') return build('caller', operand.of, ...operand.path);
    const { value, text, json } = operand;
    const isPlain = typeof value !== 'object' || value === null || Array.isArray(value);
    return isPlain && text === undefined && json === undefined ? value : stateLiteral(operand);
  }

  return { state, stateDefinition, stateOperand };
}

/** A value as an object, where nothing else tells that it is one. */
export function stateLiteral({ kind, value, text, json, members }: Extract<Operand, { kind: 'literal' }>) {
  return {
    kind,
    value,
    ...(text !== undefined && { text }),
    ...(json !== undefined && { json }),
    ...(members !== undefined && { members }),
  };
}

/** A condition that stands in a file once, under a name. */
interface NamedCondition {
  readonly name: string;
  readonly condition: Condition;
}

interface ConditionNames {
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
    findOrCreate(counts, key, () => ({ condition, count: 0 })).count += 1;
  }
  const common = [...counts].filter(([, { count }]) => count > 1);
  const formatted = common.map(([, { condition }]) => `where_${wordsOf(condition)}`);
  const titles = common.map(([key], index) => {
    const title = formatted[index] ?? '';
    return formatted.indexOf(title) === formatted.lastIndexOf(title) ? title : `${title}_${shortHash(key)}`;
  });
  const names = uniqueNames(titles, camelCase, (name) => name, new Set(taken));
  const byName = Map.groupBy(common.keys(), (index) => names.get(titles[index] ?? '') ?? '');
  // A name that two conditions share would let one rule stand for another: both are written out instead.
  const named = new Map(
    [...byName].flatMap(([name, [index = 0, ...others]]) =>
      others.length > 0 || taken.includes(name) ? [] : [[common[index]?.[0] ?? '', name] as const],
    ),
  );
  return {
    conditions: common
      // A part is shorter than the whole.
      .toSorted(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))
      .flatMap(([key, { condition }]) => {
        const name = named.get(key);
        return name === undefined ? [] : [{ name, condition }];
      }),
    nameOf: (condition) => (named.size === 0 || isConstant(condition) ? null : (named.get(keyOf(condition)) ?? null)),
  };
}

/** True for the conditions that every row meets, or none. */
function isConstant(condition: Condition): boolean {
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
