/**
 * Fields whose value is fixed by the filter of a list. They are written as the request has them, so that no row carries
 * them through the sort and over the wire. Labels of enums only: equal ones have the same text.
 */

import type { Binder } from '../../database/binder.ts';
import type { Parameter } from '../../database/database.ts';
import type { Condition, Operand } from '../../language/index.ts';
import type { ReadQuery } from '../authorise/read-query.ts';
import type { Selected } from '../authorise/selection.ts';
import type { FixedField, ReadPlan } from './plan.ts';
import { leavesTable } from './plan-selection.ts';

/** Operands by the places of the parts that they fix. */
export type FixedParts = ReadonlyMap<number, Operand>;

/** The parts of a flat list that its filter fixes; none where something else is selected than one list of rows. */
export function fixedParts(query: ReadQuery): FixedParts {
  const { selection, selector, singleton, streamed, exported, meta, cursor, condition, operands } = query;
  const whole = selector === 'list' && !singleton && !streamed && exported === undefined;
  const flat = whole && meta.length === 0 && cursor === undefined && !leavesTable(selection);
  if (query.fixes !== true || !flat) return new Map();
  const equal = equalities(condition);
  const fixed = new Map<number, Operand>();
  for (const [index, part] of selection.parts.entries()) {
    const operand = isFixable(part) ? equal.get(part.field.descriptor.name) : undefined;
    if (operand !== undefined && operands.has(operand)) fixed.set(index, operand);
  }
  // At least one column must remain: it shows how many rows there are.
  return fixed.size < selection.parts.filter(({ kind }) => kind !== 'constant').length ? fixed : new Map();
}

function isFixable(part: Selected): part is Extract<Selected, { kind: 'field' }> {
  return part.kind === 'field' && part.field.descriptor.type === 'enum' && part.field.grant === null;
}

/** Values that fields must equal on every row that matches. */
function equalities(condition: Condition): ReadonlyMap<string, Operand> {
  if (condition.kind === 'and') return new Map(condition.of.flatMap((part) => [...equalities(part)]));
  if (condition.kind !== 'compare' || condition.operator !== '_eq') return new Map();
  const plain = condition.function === undefined && condition.path === undefined;
  return plain && condition.operand.kind === 'literal' ? new Map([[condition.field, condition.operand]]) : new Map();
}

/** The parts with a place kept for each that is fixed. */
export function withoutFixed(parts: readonly Selected[], fixed: FixedParts): readonly Selected[] {
  if (fixed.size === 0) return parts;
  return parts.map((part, index) => (fixed.has(index) ? { kind: 'constant', key: part.key, json: 'null' } : part));
}

/** Where their values stand among the parameters of the statement. */
export function fixedFields(
  fixed: FixedParts,
  { operands }: Pick<ReadQuery, 'operands'>,
  binders: readonly Binder[],
): readonly FixedField[] {
  return [...fixed].map(([field, operand]) => {
    const index = operands.get(operand);
    return { field, parameter: binders.findIndex((binder) => binder.kind === 'value' && binder.index === index) };
  });
}

const settled = new WeakMap<ReadPlan, Map<string, ReadPlan>>();

/** The plan of a request with these parameters: fixed fields have their values. One for each of the labels that are asked for. */
export function fixPlan(plan: ReadPlan, parameters: readonly Parameter[]): ReadPlan {
  const { fixed } = plan;
  if (fixed === undefined) return plan;
  const values = fixed.map(({ parameter }) => JSON.stringify(parameters[parameter] ?? null));
  const text = values.join();
  const plans = settled.get(plan) ?? new Map<string, ReadPlan>();
  const cached = plans.get(text);
  if (cached !== undefined) return cached;
  const fields = plan.fields.map((planned, index) => {
    const found = fixed.findIndex(({ field }) => field === index);
    return found < 0
      ? planned
      : { key: planned.key, shape: { kind: 'constant', json: values[found] ?? 'null' } as const };
  });
  const specialised = { ...plan, fields };
  plans.set(text, specialised);
  settled.set(plan, plans);
  return specialised;
}
