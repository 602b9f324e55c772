/** Trees of nothing but new items, made and answered by one statement. */
import type { Caller } from '../../../caller.ts';
import type { Transaction } from '../../../database/database.ts';
import { runAs } from '../../../database/row-context.ts';
import { int32 } from '../../../json/bytes.ts';
import { failedValidation } from '../../../json/problems.ts';
import { longestCachedStatement } from '../../../language/values/bounded-cache.ts';
import type { Answer } from '../../../query/answer.ts';
import { bind } from '../../../query/planner.ts';
import type { Batch } from '../../../write/decode/batch.ts';
import { skip } from '../../../write/execute/run.ts';
import { valuesOf } from '../../../write/plan/inputs.ts';
import { shapeOf, writtenColumns } from '../../../write/plan/plans.ts';
import type { Returning } from '../../../write/returning.ts';
import {
  type Before,
  type Children,
  collectionsOf,
  type DecodedStep,
  type DecodedSteps,
  type DecodedTree,
  type Group,
} from '../../../write/tree/parse/group.ts';
import type { WriteContext } from '../../../write/write-plan.ts';
import { type DirectWrite, isFree } from '../direct-write.ts';
import { type KnownTree, type PlannedGroup, rememberTree } from './known-trees.ts';
import type { HeldColumn, NewGroup } from './plan-inserts.ts';
import { planTree, type TreePlan, type TreePlanCache } from './plan-tree.ts';

/** True if one statement can make and return items: no history or If-Match, and an answer of keys only. */
export function isReturned(context: WriteContext, returning: Returning | null): returning is Returning {
  return returning?.bare === true && isFree(context) && context.scope.open.dialect.returnsWrites;
}

/** Returns the one statement for a tree of new items; refusals are explained by the generic path. */
export function singleStatementTree(
  context: WriteContext,
  trees: TreePlanCache,
  { settled: { root, deferred }, drafts: decoded }: DecodedTree,
  many: boolean,
  returning: Returning | null,
): DirectWrite | undefined {
  if (deferred || !isReturned(context, returning)) return undefined;
  const steps = newSteps(root, decoded);
  const plan = steps && planOf(context, trees, root, steps, returning, many);
  if (steps === undefined || plan === null || plan === undefined) return undefined;
  const count = steps.reduce((rows, { batch }) => rows + batch.count, 0);
  if (plan.make !== undefined) {
    rememberTree(context, returning, plan, steps.map(plannedGroup), root);
    const groups = steps.map(({ batch, holds }) => ({ batch, places: holds.map(({ places }) => places) }));
    return singleStatementOf({ make: plan.make, plan, groups, count });
  }
  return {
    isExplained: true,
    rows: count,
    run({ transaction, caller, driftGuard }) {
      driftGuard(plan.statement);
      return run(transaction, caller, plan, steps, root);
    },
  };
}

/** The same of a tree that is ready to be made. */
export function singleStatementOf({ make: create, plan, groups, count }: KnownTree): DirectWrite {
  return {
    isExplained: true,
    rows: count,
    run({ transaction, caller, driftGuard }) {
      driftGuard(plan.statement);
      return create(transaction, caller, groups);
    },
  };
}

function plannedGroup({ group, draft: { granted }, batch: { columns }, holds }: NewStep): PlannedGroup {
  return { group, granted, columns, holds: holds.map(({ place: index }) => index) };
}

interface NewStep {
  readonly group: Group;
  readonly draft: DecodedStep;
  readonly batch: Batch;
  readonly holds: readonly Held[];
}

/** A group whose keys the items of another one hold: its position among all, by which columns, and which of its items, from 1. */
interface Held {
  readonly place: number;
  readonly on: readonly HeldColumn[];
  readonly places: readonly number[];
}

/** The groups of a tree, each after those whose keys it holds; undefined if some are no new items. */
function newSteps(root: Group, decoded: DecodedSteps): readonly NewStep[] | undefined {
  const steps: NewStep[] = [];
  /** Adds a group with all around it and gives its position; undefined where that cannot be. */
  function add(group: Group, above: readonly Held[], orders: readonly string[] = []): number | undefined {
    const [draft, ...more] = decoded.get(group) ?? [];
    if (draft?.action !== 'create' || more.length > 0 || draft.nodes.length !== group.nodes.length) return undefined;
    if (group.targets.length > 0 || !group.nodes.every(isNew)) return undefined;
    const before = group.before.map((edge) => addBefore(group, edge));
    const holds = [...above, ...before.flatMap((held) => held ?? [])];
    if (holds.length < above.length + before.length) return undefined;
    const index = steps.push({ group, draft, batch: orderedBatch(group, draft, orders), holds }) - 1;
    return group.children.every((edge) => addBelow(edge, index)) ? index : undefined;
  }
  function addBefore({ nodes }: Group, { group, on, links, behind }: Before): Held | undefined {
    const places: number[] = [];
    for (const { owner, node } of links) places[owner] = node + 1;
    // Where some items hold the key of another item, or none, that would have to be told apart.
    const all = links.length === nodes.length && nodes.every((_, owner) => places[owner] !== undefined);
    const index = all && behind === undefined ? add(group, []) : undefined;
    return index === undefined
      ? undefined
      : { place: index, on: on.map(({ from, to }) => ({ column: from, of: to })), places };
  }
  function addBelow({ relation, group, members }: Children, index: number): boolean {
    if (relation.kind !== 'o2m' || members.some(({ removed }) => removed.length > 0)) return false;
    const places: number[] = [];
    const orders: string[] = [];
    for (const { owner, nodes } of members) {
      let last = 0;
      for (const node of nodes) {
        places[node] = owner + 1;
        if (!setsOrder(group, node)) orders[node] = String(++last);
      }
    }
    const on = relation.on.map(({ from, to }) => ({ column: to, of: from }));
    return add(group, [{ place: index, on, places }], orders) !== undefined;
  }
  return add(root, []) === undefined ? undefined : steps;
}

/** True if the payload itself sets the order of an item among those of its owner. */
function setsOrder({ sort, nodes }: Group, node: number): boolean {
  return sort !== undefined && Object.hasOwn(nodes[node]?.own ?? {}, sort);
}

/** The batch with the positions of the items among those of their owners, where the server counts them. */
function orderedBatch(group: Group, { batch }: DecodedStep, orders: readonly string[]): Batch {
  if (group.sort === undefined) return batch;
  const columns = batch.columns.map((column) => {
    if (column.field.descriptor.name !== group.sort) return column;
    return { ...column, values: column.values.map((value, node) => orders[node] ?? value) };
  });
  return { ...batch, columns };
}

function isNew({ form, claimed, later }: Group['nodes'][number]): boolean {
  return form === 'create' && later === undefined && Object.keys(claimed).length === 0;
}

function planOf(
  { scope }: WriteContext,
  trees: TreePlanCache,
  root: Group,
  steps: readonly NewStep[],
  { plan: read }: Returning,
  many: boolean,
): TreePlan | null {
  const collections = collectionsOf(root);
  const groups = steps.map(({ group, draft: { granted, named }, batch, holds }): NewGroup => {
    const { writable, grant } = granted;
    const columns = writtenColumns(batch);
    const written = {
      scope,
      writable,
      grant,
      action: 'create',
      columns,
      named,
      collections,
      postponed: false,
    } as const;
    return { group, written, holds };
  });
  const shapes = groups.map(({ group: { path }, written }, index) => {
    const all = steps[index]?.draft.granted.all ?? written.grant;
    return `${path} ${shapeOf(written, all, 'many', read)}`;
  });
  const shape = `${many} ${shapes.join('\n')}`;
  const cached = trees.get(shape);
  if (cached !== undefined) return cached;
  const plan = planTree(groups, root, read, many);
  if (plan === null || plan.statement.text.length <= longestCachedStatement) trees.set(shape, plan);
  return plan;
}

const nothing: ReadonlyMap<number, string> = new Map();

async function run(
  transaction: Transaction,
  caller: Caller,
  plan: TreePlan,
  steps: readonly NewStep[],
  root: Group,
): Promise<Answer> {
  const values = plan.sources.flatMap((sources, index) => {
    const { batch, holds = [] } = steps[index] ?? {};
    if (batch === undefined) return [];
    return valuesOf(sources, { batch, keys: null, matched: nothing, places: holds.map(({ places }) => places) });
  });
  const rows = plan.answer();
  const top = steps.find(({ group }) => group === root);
  const others = steps.filter((step) => step !== top);
  let count = 0;
  let complete = true;
  await transaction.run(runAs(plan.statement, caller), bind(plan.binders, values, caller), {
    row(buffer, offset, length) {
      let position = skip(buffer, offset);
      if (count === 0) transaction.identify(buffer.toString('latin1', offset + 4, position));
      for (const { batch } of others) {
        const end = position + 4 + int32(buffer, position);
        complete &&= Number(buffer.toString('latin1', position + 4, end)) === batch.count;
        position = end;
      }
      count++;
      // The flag that the caller may read the row is a boolean, and never null.
      if (buffer[position + 4] === 1) rows.row(buffer, position + 5, length - (position + 5 - offset));
    },
    end() {
      if (rows.items > 0) rows.end();
    },
  });
  if (count === top?.batch.count && complete) return rows;
  throw notMade(root);
}

function notMade(root: Group): Error {
  const collection = root.writable.collection.descriptor.name;
  return failedValidation({ collection, index: undefined }, null, 'check', 'is refused by the database');
}
