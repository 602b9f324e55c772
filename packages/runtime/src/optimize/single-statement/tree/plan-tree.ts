/**
 * New items with new items below and above them, as one statement. It has an INSERT for each group, which finds the
 * keys that its items hold in the results of those before it. The answer is read from the results of all of them.
 */
import { nameStatement } from '../../../database/own-statements/own-rows.ts';
import type { PlanCache } from '../../../database/plan-cache.ts';
import { maxColumns, transactionNumber } from '../../../dialects/fragment.ts';
import { createAnswerWriter } from '../../../query/answer.ts';
import type { ReadPlan, SelectedItems } from '../../../query/plan/plan.ts';
import { printOwn } from '../../../query/plan/plan-returned.ts';
import { answerList } from '../../../query/plan/plan-selection.ts';
import { createStatement } from '../../../sql/statement.ts';
import type { Inputs } from '../../../write/plan/inputs.ts';
import type { Group } from '../../../write/tree/parse/group.ts';
import { insertAssembled } from './insert-assembled.ts';
import { isSimple, itemPlace, type NewGroup, numberedOf, printInsert, rowsOf } from './plan-inserts.ts';
import { readOfTree } from './read-tree.ts';
import { cellsOf, type Filling, valuesAlias } from './returned-cells.ts';
import type { ReturnedRead } from './returned-read.ts';
import type { TreePlan } from './tree-plan.ts';

/** Trees by their shape; null for one that takes several statements. */
export type TreePlanCache = PlanCache<TreePlan | null>;

/**
 * Plans a tree of new items, each group after those whose keys it holds; `many` tells whether the body is an array. Null where it
 * takes several statements.
 */
export function planTree(groups: readonly NewGroup[], root: Group, read: ReadPlan, many: boolean): TreePlan | null {
  const rootIndex = groups.findIndex(({ group }) => group === root);
  const top = groups[rootIndex];
  if (top === undefined || read.selected === undefined || !groups.every((group) => isSimple(groups, group)))
    return null;
  const names = groups.map(({ written }) => written.writable.collection.descriptor.name);
  // A collection that is written in two places would have to be read from both.
  if (new Set(names).size < names.length) return null;
  const planned =
    planReturnedTree(groups, rootIndex, read.selected) ?? planReadTree(groups, rootIndex, read.selected, many);
  if (planned === null) return null;
  const plan = { ...planned, answer: createAnswerWriter(read) };
  return plan.returnedRead === undefined ? plan : { ...plan, make: insertAssembled(plan, plan.returnedRead) };
}

/** Plans a tree whose answer is read from the rows that its INSERTs return. */
function planReadTree(
  groups: readonly NewGroup[],
  rootIndex: number,
  read: SelectedItems,
  many: boolean,
): Omit<TreePlan, 'answer' | 'make'> | null {
  const top = groups[rootIndex];
  if (top === undefined) return null;
  const { scope } = top.written;
  const rows = new Map(
    groups.map(({ written }, index) => [written.writable.collection.descriptor.name, rowsOf(index)]),
  );
  const whole = readOfTree(scope, read, top.group, rows);
  if (whole === undefined) return null;
  const statement = createStatement(new Map(), scope.open.dialect);
  const alias = statement.alias();
  const printed = printOwn(statement, whole, (quoted) => `${alias}.${quoted}`);
  const counts = groups.flatMap((_, index) => {
    return index === rootIndex ? [] : [`(SELECT pg_catalog.count(*)::pg_catalog.text FROM ${rowsOf(index)})`];
  });
  const first = [transactionNumber, ...counts, `(${printed.visible}) IS TRUE`];
  const columns = answerList(statement, first, printed.expressions, printed.fields);
  const from = many
    ? `${numberedOf(rootIndex)} ${alias} ORDER BY ${alias}.${itemPlace}`
    : `${rowsOf(rootIndex)} ${alias}`;
  const sources: Inputs['sources'][] = [];
  const alone = many ? undefined : rootIndex;
  const text = printed.expressions.join() + printed.visible;
  const isRead = (column: string): boolean => text.includes(column);
  const inserts = groups.map((group, index) =>
    printInsert(statement, groups, group, index, { alone, numbered: index === rootIndex, isRead, sources }),
  );
  const finished = statement.finish(`WITH ${inserts.join(', ')} SELECT ${columns} FROM ${from}`);
  return {
    statement: { ...nameStatement(finished), brief: true },
    binders: finished.binders,
    sources,
  };
}

/** Plans such a tree; undefined where the answer takes more, or rules decide what of it the caller may read. */
function planReturnedTree(
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
