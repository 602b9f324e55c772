/**
 * New items in a tree whose answer holds values of the request and values that the database has filled in. Only the
 * latter are answered by the statement, as arrays in the order of the items. So items of several requests can be made
 * together.
 */

import { nameStatement } from '../../../database/own-statements/name-statement.ts';
import { maxColumns, transactionNumber } from '../../../dialects/fragment.ts';
import type { SelectedItems } from '../../../query/plan/plan.ts';
import { createStatement } from '../../../sql/statement.ts';
import type { Inputs } from '../../../write/plan/inputs.ts';
import { type NewGroup, printInsert, rowsOf } from './plan-inserts.ts';
import { cellsOf, type Filling, valuesAlias } from './returned-cells.ts';
import type { ReturnedRead } from './returned-read.ts';
import type { TreePlan } from './tree-plan.ts';

/** Plans such a tree; undefined where the answer takes more, or rules decide what of it the caller may read. */
export function planReturnedTree(
  groups: readonly NewGroup[],
  rootIndex: number,
  read: SelectedItems,
): Omit<TreePlan, 'answer' | 'make'> | undefined {
  const top = groups[rootIndex];
  if (top === undefined) return undefined;
  const statement = createStatement(new Map(), top.written.scope.open.dialect);
  const filling: Filling = { statement, groups, read, valueColumns: groups.map(() => []) };
  const cells = cellsOf(filling, read.selection, rootIndex);
  if (cells === undefined) return undefined;
  const arrays = filling.valueColumns.flatMap((expressions, index) => {
    // Every group tells how many items it has got.
    const selected = expressions.length === 0 ? ['TRUE'] : expressions;
    return selected.map((expression) => `ARRAY(SELECT ${expression} FROM ${rowsOf(index)} ${valuesAlias})`);
  });
  // One column is the transaction's number. Several groups together may need more columns than any item.
  if (arrays.length >= maxColumns) return undefined;
  const text = arrays.join();
  const sources: Inputs['sources'][] = [];
  const isRead = (column: string): boolean => text.includes(column);
  const inserts = groups.map((group, index) =>
    printInsert(statement, groups, group, index, { alone: undefined, numbered: false, isRead, sources }),
  );
  const finished = statement.finish(`WITH ${inserts.join(', ')} SELECT ${[transactionNumber, ...arrays].join(', ')}`);
  const completed: ReturnedRead = {
    at: rootIndex,
    cells,
    arrays: filling.valueColumns.map(({ length }) => Math.max(length, 1)),
    holds: groups.map(({ holds }) => holds.map(({ place: index }) => index)),
    collection: top.written.writable.collection.descriptor.name,
  };
  return {
    statement: { ...nameStatement(finished), brief: true },
    binders: finished.binders,
    sources,
    returnedRead: completed,
  };
}
