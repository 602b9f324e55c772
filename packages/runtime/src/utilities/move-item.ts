import type { Caller } from '../caller.ts';
import type { Transaction } from '../database/database.ts';
import { allRows, type OwnSql, statementRows } from '../database/own-statements.ts';
import { sqlDialects } from '../dialects/index.ts';
import { forbidden, PlatformError } from '../errors.ts';
import { type FilterObject, isObject } from '../language/conditions/filter-syntax.ts';
import type { CompiledApi, Dialect, JsonValue } from '../language/index.ts';
import { parseExactly, withNumberTexts } from '../language/values/parse-text.ts';
import { createAnswerWriter } from '../query/answer.ts';
import { createPlanner, type PlannedRead, type Planner } from '../query/planner.ts';
import { buildOpenScope, type CollectionScope } from '../sql/scope.ts';
import { clusterTurn } from '../write/execute/targets.ts';
import { bodyOfParts, type TransactionBody } from '../write/execute/transaction-body.ts';
import type { WriteRequest } from '../write/write-plan.ts';
import type { Writer } from '../write/writer.ts';
import { updatableNames } from './revert.ts';

interface MoverOptions {
  readonly api: CompiledApi;
  readonly writer: Pick<Writer, 'workOf'>;
}

const written = { query: '', isPart: true, returning: () => null } as const;

/** Caller of a move, and its collection. */
type MoveRequest = Pick<WriteRequest, 'caller' | 'collection' | 'sender'>;

/**
 * Makes what prepares a move: every new position is an update of the caller, under the caller's rules, in one transaction.
 * It is refused with FORBIDDEN for items that the caller may not write, and with INVALID_PAYLOAD without a sort field.
 */
export function createMover({ api, writer }: MoverOptions) {
  const { dialect } = api;
  const open = buildOpenScope(api);
  // Limits of lists are for requests.
  const planner = createPlanner(api);
  const sortable = updatableNames(api);
  const turn = clusterTurn(api);

  return function moveItem({ caller, collection: name, sender }: MoveRequest, move: Move): TransactionBody {
    const collection = open.collections.get(name);
    const updatable = sortable.get(caller.accessClass)?.get(name);
    if (collection === undefined || collection.descriptor.system === true || updatable === undefined) throw forbidden();
    if (collection.descriptor.key.length === 0) throw forbidden();
    const field = sortFieldOf(collection);
    if (!updatable.has(field)) throw forbidden();
    return bodyOfParts(async (transaction, { judgesFirst, begun }) => {
      const items = await planMove({ transaction, planner, caller, dialect, turn, collection, field }, move);
      const request = { ...written, caller, collection: name, sender, judgesFirst };
      const work = await writer.workOf({ action: 'update', request, body: items });
      begun(work);
      await work.run(transaction);
    });
  };
}

/** Item to move, and the item at its destination: keys in path form. */
interface Move {
  readonly item: string;
  readonly to: string;
}

/** Parts for moving an item. The planner must have no limit of its own for the items of a list. */
interface Moving {
  readonly transaction: Transaction;
  readonly planner: Planner;
  readonly caller: Caller;
  readonly dialect: Dialect;
  readonly turn: OwnSql | null;
  readonly collection: CollectionScope;
  /** Name of the sort field. */
  readonly field: string;
}

/** An item with the position that it has, or gets because it had none. */
interface Placed {
  readonly item: FilterObject;
  readonly id: string;
  readonly position: number;
}

/** The sort field of a collection. Throws INVALID_PAYLOAD where it has none. */
function sortFieldOf({ descriptor }: CollectionScope): string {
  const field = descriptor.fields.find(({ name }) => name === descriptor.sort);
  if (field?.writable === true) return field.name;
  throw new PlatformError('INVALID_PAYLOAD', 'The collection has no sort field.');
}

/**
 * The changes that move an item, as items of their keys and new positions. They are the two that the request names,
 * those between them, and those that had no position. The last come at the end in the order of their keys. Throws
 * FORBIDDEN for items that the caller may not read.
 */
async function planMove(moving: Moving, { item, to }: Move): Promise<readonly FilterObject[]> {
  const { transaction, collection, field, dialect, turn } = moving;
  // Each of two moves in one collection would shift the items that it found.
  const name = `platform.sort ${collection.descriptor.name}`;
  if (turn === null) await statementRows(transaction, sqlDialects[dialect].namedLock, [name]);
  else await allRows(transaction, turn, [name]);
  const [moved, target] = [await readItem(moving, item), await readItem(moving, to)];
  const completed = await fillPositions(moving);
  const byId = new Map(completed.map((entry) => [entry.id, entry]));
  const [from, goal] = [moved, target].map((endpoint) => byId.get(idOf(moving, endpoint)) ?? placed(moving, endpoint));
  if (from === undefined || goal === undefined) return [];
  const row = await between(moving, completed, from.position, goal.position);
  const shifted = shift(row, from.id, goal.id);
  const positions = new Map([...completed, ...shifted].map((entry) => [entry.id, entry]));
  const stored = new Map(row.map((entry) => [entry.id, entry.position]));
  const changed = [...positions.values()].filter(({ id, position }) => {
    return byId.has(id) || id === from.id || id === goal.id || stored.get(id) !== position;
  });
  return changed.map((entry) => ({ ...keyOf(moving, entry.item), [field]: entry.position }));
}

/** Moves one of a row to the place of another: the positions stay, as far as no two are the same. */
function shift(row: readonly Placed[], from: string, goal: string): readonly Placed[] {
  const goalIndex = row.findIndex(({ id }) => id === goal);
  const moved = row.filter(({ id }) => id === from);
  const others = row.filter(({ id }) => id !== from);
  const order = [...others.slice(0, goalIndex), ...moved, ...others.slice(goalIndex)];
  let last = Number.NEGATIVE_INFINITY;
  return order.map((entry, index) => {
    last = Math.max(row[index]?.position ?? 0, last + 1);
    return { ...entry, position: last };
  });
}

/** Gives items without a position one after all others. */
async function fillPositions(moving: Moving): Promise<readonly Placed[]> {
  const { field } = moving;
  const empty = await readItems(moving, { filter: { [field]: { _null: true } }, sort: keyNames(moving) });
  if (empty.length === 0) return [];
  const [last] = await readItems(moving, { filter: { [field]: { _nnull: true } }, sort: [`-${field}`], limit: 1 });
  const highest = last === undefined ? 0 : positionOf(moving, last);
  return empty.map((item, index) => ({ item, id: idOf(moving, item), position: highest + 1 + index }));
}

/** The items from one position to another, in their order. */
async function between(
  moving: Moving,
  completed: readonly Placed[],
  first: number,
  other: number,
): Promise<readonly Placed[]> {
  const [low, high] = [Math.min(first, other), Math.max(first, other)];
  const { field } = moving;
  const filter = { _and: [{ [field]: { _gte: low } }, { [field]: { _lte: high } }] };
  const items = await readItems(moving, { filter, sort: [field, ...keyNames(moving)] });
  const behind = completed.filter(({ position }) => position >= low && position <= high);
  return [...items.map((item) => placed(moving, item)), ...behind];
}

async function readItem(moving: Moving, key: string): Promise<FilterObject> {
  const { planner, caller, collection } = moving;
  const name = collection.descriptor.name;
  const query = fieldsOf(moving)
    .map((field) => `fields[]=${encodeURIComponent(field)}`)
    .join('&');
  try {
    const response = await read(moving, planner.read(caller, { name }, key, query));
    if (response !== null && isObject(response)) return response;
  } catch (error) {
    // An invalid key names no item.
    if (!(error instanceof PlatformError) || error.code !== 'ROUTE_NOT_FOUND') throw error;
  }
  throw new PlatformError('FORBIDDEN');
}

async function readItems(moving: Moving, query: FilterObject): Promise<readonly FilterObject[]> {
  const { planner, caller, collection } = moving;
  const body = { query: { limit: -1, ...query, fields: fieldsOf(moving) } };
  const response = await read(moving, planner.search(caller, { name: collection.descriptor.name }, body));
  return Array.isArray(response) ? response.filter(isObject) : [];
}

async function read({ transaction }: Moving, { plan, statement, parameters }: PlannedRead): Promise<JsonValue> {
  const rows = createAnswerWriter(plan)();
  await transaction.run(statement, parameters, rows);
  if (rows.items === 0) return null;
  const response = withNumberTexts(parseExactly(rows.end().toString()));
  return isObject(response) ? (response.data ?? null) : null;
}

function fieldsOf(moving: Moving): readonly string[] {
  return [...keyNames(moving), moving.field];
}

function keyNames({ collection }: Moving): readonly string[] {
  return collection.descriptor.key;
}

function keyOf(moving: Moving, item: FilterObject): FilterObject {
  return Object.fromEntries(keyNames(moving).map((name) => [name, item[name] ?? null]));
}

function idOf(moving: Moving, item: FilterObject): string {
  return JSON.stringify(keyOf(moving, item));
}

function positionOf({ field }: Moving, item: FilterObject): number {
  return Number(item[field]);
}

function placed(moving: Moving, item: FilterObject): Placed {
  return { item, id: idOf(moving, item), position: positionOf(moving, item) };
}
