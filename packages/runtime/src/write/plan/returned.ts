/** Answers that a write returns itself, where it can: then nothing has to be read after it. */

import { type AnswerWriter, createAnswerWriter } from '../../query/answer.ts';
import type { ReadPlan, SelectedItems } from '../../query/plan/plan.ts';
import { conditionsOf, ownColumns, printOwn } from '../../query/plan/plan-returned.ts';
import { hasLateValues } from '../../sql/row.ts';
import type { WritableCollection, WriteScope } from '../access/scope.ts';
import { isLate } from '../checks/late.ts';
import type { Drafting } from './statement.ts';

/** The read that a write answers itself. */
export interface Returned {
  readonly own: SelectedItems;
  readonly answer: AnswerWriter;
}

/**
 * Returns the part of a planned answer that a write of the collection can return. Undefined where the written row is
 * not enough: items below it, rules about other rows, and triggers that change it after the write.
 */
export function returnedOf(
  plan: ReadPlan | undefined,
  { collection }: WritableCollection,
  scope: WriteScope,
): Returned | undefined {
  const { descriptor } = collection;
  const read = plan && ownColumns(plan);
  if (plan === undefined || read === undefined || hasLateValues(descriptor)) return undefined;
  const written = new Set([descriptor.name]);
  if (conditionsOf(read).some((condition) => isLate(scope.open, collection, condition, written))) return undefined;
  return { own: read, answer: createAnswerWriter(plan) };
}

/** Columns of the answer: true if the caller may read the row, then the values to read. */
export function returnedColumns(
  { statement }: Drafting,
  { own: read }: Returned,
  column: (quoted: string) => string,
): readonly string[] {
  const { visible, expressions } = printOwn(statement, read, column);
  return [`(${visible}) IS TRUE`, ...expressions];
}
