/** Answers that a write returns itself, where it can: then nothing has to be read behind it. */
import { type AnswerWriter, createAnswerWriter } from '../json/answer.ts';
import type { ReadPlan } from '../query/plan.ts';
import { conditionsOf, type OwnRead, printOwn } from '../query/plan-returned.ts';
import { isLate } from './late.ts';
import type { WritableCollection, WriteScope } from './scope.ts';
import type { Drafting } from './statement.ts';

/** The read that a write answers itself. */
export interface Returned {
  readonly own: OwnRead;
  readonly answer: AnswerWriter;
}

/**
 * What of a planned answer the write of a collection can return; undefined where the written row is not all that it takes:
 * items below it, rules about other rows, and what triggers do behind the write.
 */
export function returnedOf(
  plan: ReadPlan | undefined,
  { collection }: WritableCollection,
  scope: WriteScope,
): Returned | undefined {
  const { descriptor } = collection;
  const own = plan?.own;
  if (plan === undefined || own === undefined || descriptor.amended === true) return undefined;
  const written = new Set([descriptor.name]);
  if (conditionsOf(own).some((condition) => isLate(scope.open, collection, condition, written))) return undefined;
  return { own, answer: createAnswerWriter(plan) };
}

/** The columns of the answer: whether the caller may read the row, then what he reads. */
export function returnedColumns(
  { statement }: Drafting,
  { own }: Returned,
  column: (quoted: string) => string,
): readonly string[] {
  const { visible, expressions } = printOwn(statement, own, column);
  return [`(${visible}) IS TRUE`, ...expressions];
}
