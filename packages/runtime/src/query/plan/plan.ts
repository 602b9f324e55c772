/** Reads as they are planned: the query with everything resolved, and its plan. */
import type { Noted, Statement } from '../../database/database.ts';
import type { Binder } from '../../database/parameter-forms.ts';
import type { ShapeField } from '../../json/shape.ts';
import type { Condition, Operand } from '../../language/index.ts';
import type { StatementBuilder } from '../../sql/row.ts';
import type { Scope } from '../../sql/scope.ts';
import type { Selection } from '../authorise/selection.ts';
import type { Selector } from '../authorise/shape.ts';
import type { OrderTerm } from '../authorise/sort.ts';
import type { Cursor, CursorPlan } from '../parse/cursor.ts';
import type { Exported, MetaName } from '../parse/request.ts';
import type { NestedLists } from './plan-nested-list.ts';

/**
 * One planned read: one statement, at any depth.
 *
 * With `meta` the first columns of every row are the counts in that order. One boolean column follows, which is false
 * on the single row that stands for an empty list. Then the item's columns follow, as without `meta`. With `cursor`,
 * the texts that a cursor is made of stand in front of the item's columns. A row past the limit tells of more.
 *
 * With `countsNamed` one more column stands in front: the number of existing items among those named by key. The
 * boolean is then there without `meta` too.
 */
export interface ReadPlan extends Noted {
  readonly statement: Statement;
  readonly binders: readonly Binder[];
  /** Cost of everything that it selects and looks for: see `cost.ts`. */
  readonly cost: number;
  readonly many: boolean;
  /** True if its one column is the whole of `data`, and not a member of an item. Default: false. */
  readonly bare?: true;
  readonly fields: readonly ShapeField[];
  readonly meta: readonly ('total_count' | 'filter_count')[];
  /** For `planTargets`: true if the statement locks the rows that it finds. */
  readonly locksRows?: boolean;
  /** Set for aggregations of items named by key. */
  readonly countsNamed?: boolean;
  /** The lists within its rows, when there are any. */
  readonly nested?: readonly NestedRows[];
  /** Selection of each item, where it reads all of the items that it names: also to be printed on rows just written. */
  readonly selected?: SelectedItems;
  /** True for `limit=-1` and large limits: run by `Database.stream`. */
  readonly streamed: boolean;
  /** Set when the list is paged by cursor. */
  readonly cursor?: CursorPlan;
  /** Set when the answer is a file. */
  readonly exported?: Exported;
}

/** The lists within the rows of a selection that decide how many rows an answer can have; the same for a shape. */
export interface NestedRows {
  /** The name under which `deep` speaks of the rows. */
  readonly name: string;
  /** False for a relation to one item. */
  readonly many: boolean;
  readonly below: readonly NestedRows[];
}

export interface SelectedItems {
  readonly scope: Scope;
  readonly selection: Selection;
  readonly nested: NestedLists;
}

/** A read with its names looked up, ready to be planned. */
export interface ReadQuery extends SelectedItems {
  readonly condition: Condition;
  readonly order: readonly OrderTerm[];
  /** Rows at most, -1 for all. */
  readonly limit: number;
  readonly offset: number;
  /** Set when the list is paged by cursor. */
  readonly cursor?: Cursor;
  readonly meta: readonly MetaName[];
  readonly selector: Selector;
  /** False for singletons and reads by key: one item instead of a list. */
  readonly many: boolean;
  /** One row that there always is: its defaults before the first write. */
  readonly singleton: boolean;
  readonly streamed: boolean;
  /** Set when the answer is a file. */
  readonly exported?: Exported;
  /** Prints what stands in the place of the table. Default: the table. */
  readonly source?: (statement: StatementBuilder) => string;
  /** Indexes of the values of all conditions' operands, and the number of collected values, nested ones included. */
  readonly operands: ReadonlyMap<Operand, number>;
  readonly values: number;
}
