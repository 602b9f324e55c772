/** Reads of items that documents ask for, planned once per shape. */
import { always, type Condition } from '../../language/index.ts';
import { type BoundedCache, longestCachedStatement } from '../../language/values/bounded-cache.ts';
import {
  collectValues,
  type OpenValues,
  openValues,
  refuseRelations,
  refuseSize,
  relationsOf,
} from '../../query/authorise/filter.ts';
import type { NestedRead } from '../../query/authorise/nested.ts';
import type { Selector } from '../../query/authorise/shape.ts';
import type { OrderTerm } from '../../query/authorise/sort.ts';
import { checkCursor } from '../../query/parse/cursor.ts';
import { usualLimit } from '../../query/parse/request.ts';
import { refuseCost } from '../../query/plan/cost.ts';
import type { ReadPlan } from '../../query/plan/plan.ts';
import { boundValues } from '../../query/plan/plan-bounds.ts';
import { beyondOf, isStreamed, planRead, type ReadPass } from '../../query/plan/plan-read.ts';
import { countedRows, isLarge, refuseRows, topRows } from '../../query/plan/row-bound.ts';
import type { Prepared, RequestedSource } from '../../query/prepared.ts';
import type { StatementBuilder } from '../../sql/row.ts';
import type { CollectionScope } from '../../sql/scope.ts';
import { type Input, inputValue, type Variables } from '../compile/input.ts';
import { boundOfSelection, fillSelection, type SelectionTemplate } from '../compile/selection-template.ts';
import { type ListRead, type ListSetting, type ListSlot, readList } from './list-read.ts';

interface ItemRead {
  readonly selector: Extract<Selector, 'list' | 'key' | 'written'>;
  /** False for one item instead of a list. */
  readonly many: boolean;
  readonly selection: SelectionTemplate;
  /** The arguments of the list itself, where it is one. */
  readonly top: ListSlot | undefined;
  /** Slots of the lists within its items, as the selection numbers them. */
  readonly lists: readonly ListSlot[];
  /** Rows that stand in the place of the table's, and what decides about them. */
  readonly source?: { readonly inputs: readonly Input[]; readonly read: (variables: Variables) => RequestedSource };
  /** Set where the items of all pages are counted. */
  readonly counted?: true;
  /** Context of the list itself, where it differs. */
  readonly whole?: ListSetting;
}

/** Context in which reads are prepared: caches of plans and of prepared reads, by names that no other read has. */
export interface ReadSetting extends ListSetting {
  readonly plans: BoundedCache<ReadPlan>;
  readonly reads: BoundedCache<PreparedRead>;
  /** Complete the plans. */
  readonly passes: readonly ReadPass[];
}

/** Request for the list at the top, or for one item. */
type Top = Pick<ListRead, 'order' | 'shape' | 'cursor'> & {
  /** Set where other rows are asked for than the scope has. */
  readonly collection?: CollectionScope;
  readonly condition: Condition;
  readonly limit: number;
  readonly offset: number;
};

const oneItem: Top = { order: [], shape: '', condition: always, limit: 1, offset: 0 };

/** Makes what prepares a read; `name` stands for it among all plans. */
export function createRead(setting: ReadSetting, name: string, read: ItemRead): PrepareRead {
  const slots = read.top === undefined ? read.lists : [read.top, ...read.lists];
  const inputs = [...slots.flatMap((slot) => [...slot.arguments.values()]), ...(read.source?.inputs ?? [])];
  return rememberReads(setting.reads, name, inputs, (variables) => prepareItems(setting, name, read, variables));
}

function prepareItems(setting: ReadSetting, name: string, read: ItemRead, variables: Variables): PreparedRead {
  const { plans, scope, limits } = setting;
  const { collection } = read.selection;
  const top = topOf(setting, read, variables);
  const lists = read.lists.map((slot) => readList(setting, slot, variables));
  const nested = lists.map((list) => list.read);
  const open = openValues();
  collectValues(open, scope, collection, top.condition);
  const positions = collectLists(open, setting, nested);
  const source = read.source?.read(variables);
  const sourceIndex = open.values.length;
  if (source !== undefined) open.values.push(...source.values);
  refuseSize(open, limits);
  const usual = usualLimit(limits);
  const rows = read.top === undefined ? 1 : countedRows(topRows(read.selector, top.limit, 0, usual));
  const maxRows = rows * boundOfSelection(read.selection, nested, usual);
  refuseRows(maxRows, limits);
  const form = source?.form ?? '';
  const shape = `${name} ${JSON.stringify([top.shape, ...lists.map((list) => list.shape)])} ${form}`;
  const cached = plans.get(shape);
  if (cached === undefined) refuseRelations(relationsIn([top, ...nested]), limits);
  const plan =
    cached ?? planItems(setting, read, top, lists, open, positions, source && { source, index: sourceIndex });
  refuseCost(plan.cost, limits.maxCost);
  if (cached === undefined && plan.statement.text.length <= longestCachedStatement) plans.set(shape, plan);
  const { cursor, limit } = top;
  const bounds = read.selector === 'key' ? [] : boundValues({ ...top, beyond: beyondOf(cursor) });
  const position = cursor === undefined || plan.cursor === undefined ? [] : checkCursor(plan.cursor, cursor);
  const large = isLarge(maxRows) && ({ large: true } as const);
  return { plan, values: open.values, bounds: [...position, ...bounds], ...large, ...(cursor && { size: limit }) };
}

function topOf(setting: ReadSetting, { top, selector, selection, whole }: ItemRead, variables: Variables): Top {
  // The answer of a write is all that was written, so that the write itself may give it.
  const isWhole = selector === 'written' || whole !== undefined;
  if (selector === 'key' || top === undefined) return { ...oneItem, ...(isWhole && { limit: -1 }) };
  const { read, order, shape, cursor } = readList(whole ?? setting, top, variables);
  const { singleton } = selection.collection.descriptor;
  const { limit, offset } = singleton && selector === 'list' ? oneItem : read.request;
  const collection = read.request.archived === undefined ? undefined : read.collection;
  const from = { ...(collection && { collection }), ...(cursor && { cursor }) };
  return { order, shape, condition: read.condition, limit, offset, ...from };
}

/** Adds the values of lists; returns where the bounds of each stand. */
function collectLists(
  open: OpenValues,
  { scope }: ReadSetting,
  lists: readonly NestedRead[],
): ReadonlyMap<NestedRead, number> {
  const positions = new Map<NestedRead, number>();
  for (const read of lists) {
    if (read.collection !== undefined) collectValues(open, scope, read.collection, read.condition);
    positions.set(read, open.values.length);
    open.values.push(...boundValues(read.request));
  }
  return positions;
}

function relationsIn(reads: readonly { readonly condition: Condition }[]): number {
  return reads.reduce((sum, { condition }) => sum + relationsOf(condition), 0);
}

function planItems(
  { scope, limits, passes }: ReadSetting,
  { selector, many, selection, counted }: ItemRead,
  { condition, order, limit, offset, collection, cursor }: Top,
  lists: readonly ListRead[],
  { operands, values }: OpenValues,
  positions: ReadonlyMap<NestedRead, number>,
  from: { readonly source: RequestedSource; readonly index: number } | undefined,
): ReadPlan {
  const reads = lists.map(({ read }) => read);
  const orders = new Map(lists.map((list): [NestedRead, readonly OrderTerm[]] => [list.read, list.order]));
  const query = {
    scope,
    selection: { ...fillSelection(selection, reads, condition), ...(collection && { collection }) },
    condition,
    order,
    limit,
    offset,
    ...(cursor && { cursor }),
    meta: counted === undefined ? [] : ['filter_count' as const],
    selector,
    many,
    singleton: from === undefined && selector === 'list' && selection.collection.descriptor.singleton,
    streamed: selector === 'list' && many && isStreamed(limit, undefined),
    nested: { limit: usualLimit(limits), positions, orders, aggregates: new Map() },
    operands,
    values: values.length,
    ...(from && { source: (statement: StatementBuilder) => from.source.print(statement, from.index) }),
  };
  return planRead(query, passes);
}

/** A plan with the values of one request: those in front of keys, and those after them. */
export interface PreparedRead extends Omit<Prepared, 'open'> {
  readonly bounds: readonly string[];
}

/** Prepares a read for the variables of a request. Throws INVALID_QUERY or FORBIDDEN for arguments that cannot be used. */
export type PrepareRead = (variables: Variables) => PreparedRead;

/** Characters of arguments beyond which a read is prepared every time. */
const longestArguments = 2_048;

/** Remembers prepared reads by their arguments; `name` stands for the read. One that throws is prepared again. */
export function rememberReads(
  reads: BoundedCache<PreparedRead>,
  name: string,
  inputs: readonly Input[],
  prepare: PrepareRead,
): PrepareRead {
  const open = inputs.filter(({ fixed }) => !fixed);
  let only: PreparedRead | undefined;

  function prepareOnce(variables: Variables): PreparedRead {
    only ??= prepare(variables);
    return only;
  }

  function prepareKnown(variables: Variables): PreparedRead {
    // An object leaves out what is absent: for functions that have defaults it is not null.
    const text = JSON.stringify({ ...open.map((input) => inputValue(input, variables)) });
    if (text.length > longestArguments) return prepare(variables);
    const key = `${name} ${text}`;
    const cached = reads.get(key);
    if (cached !== undefined) return cached;
    const prepared = prepare(variables);
    reads.set(key, prepared);
    return prepared;
  }

  return open.length === 0 ? prepareOnce : prepareKnown;
}
