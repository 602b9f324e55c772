import { createNote } from '../../database/database.ts';
import type { Binder } from '../../database/parameter-forms.ts';
import type { Condition, Operand } from '../../language/index.ts';
import { derivedOnce, findOrCreate } from '../../language/values/once.ts';
import type { Selected } from '../../query/authorise/selection.ts';
import type { ReadPlan, ReadQuery } from '../../query/plan/plan.ts';
import { planRead } from '../../query/plan/plan-read.ts';
import { leavesTable } from '../../query/plan/plan-selection.ts';
import type { ListPass } from '../../query/planner.ts';

/** Operands by the places of the parts that they fix. */
type FixedParts = ReadonlyMap<number, Operand>;

/** A field of an answer that has the same value in every item: its place, and that of the parameter which holds the value. */
interface FixedField {
  readonly field: number;
  readonly parameter: number;
}

const fixedFields = createNote<readonly FixedField[]>('fixed fields');

/** Leaves fields that the filter fixes out of the statement; each run writes them by its parameters. */
export const fixFields: ListPass = {
  complete(plan, { query }) {
    const fixed = fixedParts(query);
    if (fixed.size === 0) return plan;
    const parts = query.selection.parts.map((part, index) => (fixed.has(index) ? placeOf(part) : part));
    const lean = planRead({ ...query, selection: { ...query.selection, parts } });
    return fixedFields.on({ ...lean, cost: plan.cost }, fieldsOf(fixed, query, lean.binders));
  },
  specialise: fixPlan,
};

/** Keeps the place of a part. */
function placeOf({ key }: Selected): Selected {
  return { kind: 'constant', key, json: 'null' };
}

/** The parts of a flat list that its filter fixes; none where something else is selected than one list of rows. */
function fixedParts(query: ReadQuery): FixedParts {
  const { selection, selector, singleton, streamed, exported, meta, cursor, condition, operands } = query;
  const whole = selector === 'list' && !singleton && !streamed && exported === undefined;
  if (!whole || meta.length > 0 || cursor !== undefined || leavesTable(selection)) return new Map();
  const equal = equalities(condition);
  const fixed = new Map<number, Operand>();
  for (const [index, part] of selection.parts.entries()) {
    const operand = isFixable(part) ? equal.get(part.field.descriptor.name) : undefined;
    if (operand !== undefined && operands.has(operand)) fixed.set(index, operand);
  }
  // At least one column must remain: it shows how many rows there are.
  return fixed.size < selection.parts.filter(({ kind }) => kind !== 'constant').length ? fixed : new Map();
}

/** Labels of enums only: equal ones have the same text. */
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

/** Indexes of their values among the parameters of the statement. */
function fieldsOf(
  fixed: FixedParts,
  { operands }: Pick<ReadQuery, 'operands'>,
  binders: readonly Binder[],
): readonly FixedField[] {
  return [...fixed].map(([field, operand]) => {
    const index = operands.get(operand);
    return { field, parameter: binders.findIndex((binder) => binder.kind === 'value' && binder.index === index) };
  });
}

const specialisedPlans = derivedOnce((_plan: ReadPlan) => new Map<string, ReadPlan>());

/** The plan of a request with these parameters: fixed fields have their values. One for each of the labels that are asked for. */
function fixPlan(plan: ReadPlan, parameters: Parameters<ListPass['specialise']>[1]): ReadPlan {
  const fixed = fixedFields.of(plan);
  if (fixed === undefined) return plan;
  const values = fixed.map(({ parameter }) => JSON.stringify(parameters[parameter] ?? null));
  return findOrCreate(specialisedPlans(plan), values.join(), () => {
    const fields = plan.fields.map((planned, index) => {
      const found = fixed.findIndex(({ field }) => field === index);
      return found < 0
        ? planned
        : { key: planned.key, shape: { kind: 'constant', json: values[found] ?? 'null' } as const };
    });
    return { ...plan, fields };
  });
}
