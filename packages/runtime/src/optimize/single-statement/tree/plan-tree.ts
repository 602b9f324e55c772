/**
 * New items with new items below and above them, as one statement. It has an INSERT for each group, which finds the
 * keys that its items hold in the results of those before it. The answer is read from the results of all of them.
 */
import type { Caller } from '../../../caller.ts';
import type { Statement, Transaction } from '../../../database/database.ts';
import { nameStatement } from '../../../database/own-statements.ts';
import type { Binder } from '../../../database/parameter-forms.ts';
import { runAs } from '../../../database/row-context.ts';
import { maxColumns, transactionNumber } from '../../../dialects/fragment.ts';
import { failedValidation } from '../../../json/problems.ts';
import type { BoundedCache } from '../../../language/values/bounded-cache.ts';
import { type Answer, type AnswerWriter, createAnswerWriter } from '../../../query/answer.ts';
import type { ReadPlan, SelectedItems } from '../../../query/plan/plan.ts';
import { printOwn } from '../../../query/plan/plan-returned.ts';
import { answerList } from '../../../query/plan/plan-selection.ts';
import { bind } from '../../../query/planner.ts';
import { createStatement } from '../../../sql/statement.ts';
import { skip } from '../../../write/execute/run.ts';
import { type Inputs, valuesOf } from '../../../write/plan/inputs.ts';
import type { Group } from '../../../write/tree/parse/group.ts';
import { joinBatches, shareWork } from '../sharing.ts';
import { isSimple, itemPlace, type NewGroup, numberedOf, printInsert, rowsOf } from './plan-inserts.ts';
import { readOfTree } from './read-tree.ts';
import { cellsOf, type Filling, type ReturnedRead, valuesAlias } from './returned-cells.ts';
import { type DatabaseValues, type ReturnedGroup, readDatabaseValues, writeRows } from './returned-rows.ts';

/** Trees by their shape; null for one that takes several statements. */
export type TreePlanCache = BoundedCache<TreePlan | null>;

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

interface Tree {
  readonly caller: Caller;
  readonly groups: readonly ReturnedGroup[];
}

function insertAssembled(plan: Omit<TreePlan, 'make'>, read: ReturnedRead): InsertTree {
  const create = shareWork<Tree, Answer>((transaction, trees) => makeTrees(transaction, plan, read, trees));
  // A statement that takes values of the caller is shared only by requests of that caller.
  const isOwn = plan.binders.some(({ kind }) => kind === 'caller');
  return (transaction, caller, groups) => {
    const name = isOwn ? JSON.stringify([caller.user, caller.role]) : '';
    return create(transaction, name, { caller, groups });
  };
}

const nothing: ReadonlyMap<number, string> = new Map();

async function makeTrees(
  transaction: Transaction,
  { statement, binders, sources, answer: result }: Omit<TreePlan, 'make'>,
  read: ReturnedRead,
  trees: readonly Tree[],
): Promise<readonly Answer[]> {
  const [first] = trees;
  if (first === undefined) return [];
  const joined = sources.map((_, index) =>
    joinGroups(
      read,
      trees.map(({ groups }) => groups),
      index,
    ),
  );
  const values = sources.flatMap((groupSources, index) => {
    const { batch, places } = joined[index] ?? noGroup;
    return valuesOf(groupSources, { batch, keys: null, matched: nothing, places });
  });
  let answers: readonly Answer[] | undefined;
  await transaction.run(runAs(statement, first.caller), bind(binders, values, first.caller), {
    row(buffer, offset) {
      const from = skip(buffer, offset);
      transaction.identify(buffer.toString('latin1', offset + 4, from));
      const completed = readDatabaseValues(buffer, from, read);
      const isWhole = completed.elements.every((columns, index) =>
        columns.every((elements) => elements.length === joined[index]?.batch.count),
      );
      if (isWhole) answers = answersOf(read, result, completed, trees);
    },
  });
  if (answers !== undefined) return answers;
  throw failedValidation(
    { collection: read.collection, index: undefined },
    null,
    'check',
    'is refused by the database',
  );
}

function answersOf(
  read: ReturnedRead,
  result: TreePlan['answer'],
  completed: DatabaseValues,
  trees: readonly Tree[],
): readonly Answer[] {
  const starts = read.arrays.map(() => 0);
  return trees.map(({ groups }) => {
    const rows = result();
    writeRows(read, { databaseValues: completed, groups, starts }, (buffer, offset, length) =>
      rows.row(buffer, offset, length),
    );
    rows.end();
    for (const [index, { batch }] of groups.entries()) starts[index] = (starts[index] ?? 0) + batch.count;
    return rows;
  });
}

const noGroup: ReturnedGroup = { batch: { count: 0, columns: [] }, places: [] };

/** A group of several trees of one shape, as one: items that hold keys hold those of their own tree. */
function joinGroups(read: ReturnedRead, trees: readonly (readonly ReturnedGroup[])[], index: number): ReturnedGroup {
  const all = trees.map((groups) => groups[index] ?? noGroup);
  const [first] = all;
  if (first === undefined || all.length === 1) return first ?? noGroup;
  return { batch: joinBatches(all.map(({ batch }) => batch)), places: joinPlaces(read, trees, index) };
}

function joinPlaces(
  { holds }: ReturnedRead,
  trees: readonly (readonly ReturnedGroup[])[],
  index: number,
): ReturnedGroup['places'] {
  return (holds[index] ?? []).map((held, hold) => {
    let before = 0;
    return trees.flatMap((groups) => {
      const positions = groups[index]?.places[hold] ?? [];
      const moved = positions.map((other) => other + before);
      before += groups[held]?.batch.count ?? 0;
      return moved;
    });
  });
}

/**
 * A planned tree. Every row of its answer is an item at the top. It has the transaction's number and the number of
 * items of each group below, as texts. A flag says if the caller may read the item, and the readable values follow.
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
