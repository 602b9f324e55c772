import type { Caller } from '../../../caller.ts';
import type { Statement, Transaction } from '../../../database/database.ts';
import type { Binder } from '../../../database/parameter-forms.ts';
import type { Answer, AnswerWriter } from '../../../query/answer.ts';
import type { Inputs } from '../../../write/plan/inputs.ts';
import type { ReturnedRead } from './returned-cells.ts';
import type { ReturnedGroup } from './returned-rows.ts';

/**
 * A planned tree. Every row of its answer is an item at the top. It has the transaction's number and the number of
 * items that each group below has got, all as texts. A flag says if the caller may read the item, and the readable
 * values follow.
 *
 * With `filled` there is one row for all items, also those of several requests. It has the number, and of each group in
 * its order an array for each column that is not known from the request.
 */
export interface TreePlan {
  readonly statement: Statement;
  readonly binders: readonly Binder[];
  /** For each group in its order, what it takes. */
  readonly sources: readonly Inputs['sources'][];
  readonly answer: AnswerWriter;
  readonly returnedRead?: ReturnedRead;
  /** Set with `filled`. */
  readonly make?: InsertTree;
}

/** Makes the items of a tree and answers those at the top. Refuses where the database has made others than was said. */
export type InsertTree = (
  transaction: Transaction,
  caller: Caller,
  groups: readonly ReturnedGroup[],
) => Promise<Answer>;
