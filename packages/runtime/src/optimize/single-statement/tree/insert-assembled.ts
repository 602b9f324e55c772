/** Making filled trees, those of several requests by one statement where they share a transaction. */
import type { Caller } from '../../../caller.ts';
import type { Transaction } from '../../../database/database.ts';
import { runAs } from '../../../database/row-security/row-context.ts';
import { failedValidation } from '../../../json/problems.ts';
import type { Answer } from '../../../query/answer.ts';
import { bind } from '../../../query/planner.ts';
import { skip } from '../../../write/execute/run.ts';
import { valuesOf } from '../../../write/plan/inputs.ts';
import { joinBatches, shareWork } from '../sharing.ts';
import type { ReturnedRead } from './returned-read.ts';
import { type DatabaseValues, type ReturnedGroup, readDatabaseValues, writeRows } from './returned-rows.ts';
import type { InsertTree, TreePlan } from './tree-plan.ts';

interface Tree {
  readonly caller: Caller;
  readonly groups: readonly ReturnedGroup[];
}

/** How the trees of a plan are made. */
export function insertAssembled(plan: Omit<TreePlan, 'make'>, read: ReturnedRead): InsertTree {
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
