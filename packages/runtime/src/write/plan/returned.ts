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

/** Columns that a writing statement returns to the query around it. */
interface Returning {
  /** Returns an expression of the written row, and gives its name outside. */
  take(expression: string): string;
  /** Returns a quoted column of the written row, and gives its name outside. */
  column(quoted: string): string;
  /** The list after RETURNING; never empty. */
  list(): string;
}

/** Starts the list: `column` takes columns of the written table to expressions, `outer` is the alias outside. */
export function createReturning(column: (quoted: string) => string, outer: string): Returning {
  const names = new Map<string, string>();
  function select(expression: string): string {
    const name = names.get(expression) ?? `r${names.size}`;
    names.set(expression, name);
    return `${outer}.${name}`;
  }
  return {
    take: select,
    column: (quoted) => select(column(quoted)),
    list: () =>
      names.size === 0 ? '1' : [...names].map(([expression, name]) => `${expression} AS ${name}`).join(', '),
  };
}
