import type { Caller } from '../../../caller.ts';
import type { Binder } from '../../../database/binder.ts';
import type { Statement, Transaction } from '../../../database/database.ts';
import type { ManyToMany } from '../../../language/index.ts';
import type { Answer, AnswerWriter } from '../../../query/answer.ts';
import type { Written } from '../../../write/checks/check.ts';
import type { Batch } from '../../../write/decode/batch.ts';
import type { Inputs } from '../../../write/plan/inputs.ts';
import type { WriteStatement } from '../../../write/plan/statement.ts';

/**
 * A planned change of any number of items. Every row of its answer is an existing item to be changed. It has the
 * transaction's number, the item's position from 1 as a big integer, and for each check null where the item meets it. A
 * flag says if the caller may read the item, and the readable values follow.
 */
export interface LinksPlan {
  /** Statement that runs first and locks the items; without it this one finds no item. */
  readonly hold: Pick<WriteStatement, 'statement' | 'binders' | 'sources'>;
  readonly statement: Statement;
  readonly binders: readonly Binder[];
  /** Sources of the items' parameters, then of each relation's. */
  readonly sources: readonly Inputs['sources'][];
  readonly checks: number;
  readonly answer: AnswerWriter;
  /** True if the texts of two keys tell whether they are equal, so that several items can be changed at once. */
  readonly isBatch: boolean;
  readonly change: ChangeLinks;
}

/** A relation whose links are listed. */
export interface ListedLinks {
  readonly relation: ManyToMany;
  /** How its junction gets new rows: columns of the item, of the targets, and of the order where it keeps one. */
  readonly written: Written;
}

/** The change of one item. */
export interface LinksChange {
  readonly caller: Caller;
  /** The item's key: a text for each part. */
  readonly key: readonly string[];
  /** Values of the item, then for each relation the keys that it lists. */
  readonly batches: readonly Batch[];
}

/** Changes an item and answers it, if the caller may read it. Throws FORBIDDEN where it must not be changed so. */
export type ChangeLinks = (transaction: Transaction, change: LinksChange) => Promise<Answer>;
