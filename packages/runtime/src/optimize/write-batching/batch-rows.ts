import type { Binder } from '../../database/binder.ts';
import type { Statement } from '../../database/database.ts';
import { createNote } from '../../database/notes.ts';
import { batchKey } from '../../query/plan/plan-keys.ts';
import type { Source } from '../../write/plan/inputs.ts';
import { planReturnedCreate } from '../../write/plan/plan-create.ts';
import { planUpdateMany } from '../../write/plan/plan-update-many.ts';
import { changedNames } from '../../write/plan/plans.ts';
import { returnedOf } from '../../write/plan/returned.ts';
import type { WriteStatement } from '../../write/plan/statement.ts';
import type { CompleteStep, PlannedStep } from '../../write/plan/step-plans.ts';

/**
 * Statement that makes or changes several rows. It answers a row for each of them in their order, as the statement for
 * one row does.
 */
export interface RowBatch {
  readonly statement: Statement;
  /**
   * Its parameters by those of the other statement: one that is the same for all rows, or the list of each row's value.
   */
  readonly parameters: readonly { readonly of: number; readonly list: boolean }[];
  /**
   * For a change: index of the parameter of the other statement that is the key of the stored row. The key must not
   * come twice in a list.
   */
  readonly key?: number;
}

/** The batch of a statement that makes or changes one row, and may do so with several at once. */
export const rowBatchOf = createNote<RowBatch>('row batch');

/** Adds the statement for several rows to writes of one item. */
export const planRowBatch: CompleteStep = (plans, planned) => {
  const rows = plans.many ? undefined : batchRows(plans.write, planMany(planned));
  if (rows === undefined) return plans;
  return { ...plans, write: { ...plans.write, statement: rowBatchOf.on(plans.write.statement, rows) } };
};

function planMany({ written, plan, keyed }: PlannedStep): WriteStatement | undefined {
  const returned = returnedOf(plan, written.writable, written.scope);
  if (returned === undefined) return undefined;
  if (written.action === 'create') return planReturnedCreate(written, true, returned, keyed);
  // Requires keys whose texts tell whether they are equal. Requests that share a transaction never wait for locks.
  const mayJoin = changedNames(written).length > 0 && batchKey(written.writable.collection) !== undefined;
  return mayJoin ? planUpdateMany(written, false, returned, true) : undefined;
}

/**
 * Batch in which the statement for many items makes or changes the items of several requests. Its parameters come from
 * those that each would have of its own for `single`. Undefined where an item takes more than its key, its values and
 * what is the same for all of them.
 */
function batchRows(single: WriteStatement, many: WriteStatement | undefined): RowBatch | undefined {
  if (many === undefined) return undefined;
  const parameters = many.binders.map((binder) => ({
    of: placeOf(single, many, binder),
    list: binder.kind === 'value',
  }));
  const isWhole = parameters.some(({ list }) => list) && parameters.every(({ of: index }) => index >= 0);
  if (!isWhole) return undefined;
  const key = single.binders.findIndex((binder) => sourceOf(single, binder)?.kind === 'key');
  return { statement: { ...many.statement, brief: true }, parameters, ...(key >= 0 && { key }) };
}

/** Where a parameter that a request brings finds its value. */
function sourceOf({ sources }: WriteStatement, binder: Binder): Source | undefined {
  return binder.kind === 'value' ? sources[binder.index] : undefined;
}

/** Which parameter for one item has what a parameter for many has, or has of each item; -1 where none has. */
function placeOf(single: WriteStatement, many: WriteStatement, binder: Binder): number {
  if (binder.kind !== 'value') {
    const text = JSON.stringify(binder);
    return single.binders.findIndex((other) => JSON.stringify(other) === text);
  }
  const source = sourceOf(many, binder);
  return single.binders.findIndex((other) => {
    const candidate = sourceOf(single, other);
    if (source?.kind === 'key') return candidate?.kind === 'key' && candidate.part === source.part;
    return source?.kind === 'values' && candidate?.kind === 'value' && candidate.column === source.column;
  });
}
