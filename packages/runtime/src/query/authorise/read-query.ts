import type { Condition, Operand } from '../../language/index.ts';
import type { StatementBuilder } from '../../sql/row.ts';
import type { Scope } from '../../sql/scope.ts';
import type { Cursor } from '../parse/cursor.ts';
import type { Exported, MetaName } from '../parse/request.ts';
import type { NestedLists } from '../plan/plan-nested-list.ts';
import type { Selection } from './selection.ts';
import type { Selector } from './shape.ts';
import type { OrderTerm } from './sort.ts';

/** A read with its names looked up, ready to be planned. */
export interface ReadQuery {
  readonly scope: Scope;
  readonly selection: Selection;
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
  readonly nested: NestedLists;
  /** Prints what stands in the place of the table. Default: the table. */
  readonly source?: (statement: StatementBuilder) => string;
  /** Where the operands of all conditions find their values, and how many values were collected, nested ones included. */
  readonly operands: ReadonlyMap<Operand, number>;
  readonly values: number;
}
