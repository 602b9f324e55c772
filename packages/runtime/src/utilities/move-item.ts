import type { Caller } from '../caller.ts';
import type { Transaction } from '../database/database.ts';
import { allRows, type OwnSql, statementRows } from '../database/own-statements.ts';
import { sqlDialects } from '../dialects/index.ts';
import { forbidden, PlatformError } from '../errors.ts';
import { type FilterObject, isObject } from '../language/conditions/filter-syntax.ts';
import type { CompiledApi, Dialect, JsonValue } from '../language/index.ts';
import { parseExactly, withNumberTexts } from '../language/values/parse-text.ts';
import { createAnswerWriter } from '../query/answer.ts';
import { parseKeys } from '../query/parse/keys.ts';
import { createPlanner, type PlannedRead, type Planner } from '../query/planner.ts';
import { buildOpenScope, type CollectionScope } from '../sql/scope.ts';
import { checkCount } from '../write/decode/parse-body.ts';
import { lockRows } from '../write/execute/lock-rows.ts';
import { clusterTurn } from '../write/execute/targets.ts';
import { bodyOfParts, type TransactionBody } from '../write/execute/transaction-body.ts';
import type { WriteRequest } from '../write/write-plan.ts';
import type { Writer } from '../write/writer.ts';
import { updatableNames } from './revert.ts';

interface MoverOptions {
  readonly api: CompiledApi;
  readonly writer: Pick<Writer, 'workOf'>;
  /** Items that one request writes at most; null: as many as it moves. */
  readonly maxItems: number | null;
}

const written = { query: '', isPart: true, returning: () => null } as const;

/** Items that are read and written together, so that a move needs little memory. */
const together = 10_000;

/** Caller of a move, and its collection. */
type MoveRequest = Pick<WriteRequest, 'caller' | 'collection' | 'sender'>;

/**
 * Makes what prepares a move: every new position is an update of the caller, under the caller's rules, in one transaction.
 * It is refused with FORBIDDEN for items that the caller may not write, and with INVALID_PAYLOAD without a sort field.
 */
export function createMover({ api, writer, maxItems }: MoverOptions) {
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
      let count = 0;
      async function write(body: readonly FilterObject[]): Promise<void> {
        count += body.length;
        checkCount(count, maxItems);
        const request = { ...written, caller, collection: name, sender, judgesFirst };
        const work = await writer.workOf({ action: 'update', request, body: [...body] });
        begun(work);
        await work.run(transaction);
      }
      await moveWithin({ transaction, planner, caller, dialect, turn, collection, field, write }, move);
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
  /** Writes items of their keys and new positions. */
  readonly write: (items: readonly FilterObject[]) => Promise<void>;
}

/** An item with its position. */
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
 * Moves an item: writes the two that the request names, those between them, and those that had no position. The last come at
 * the end in the order of their keys. Throws FORBIDDEN for items that the caller may not read.
 */
async function moveWithin(moving: Moving, { item, to }: Move): Promise<void> {
  const { transaction, collection, dialect, turn } = moving;
  // Each of two moves in one collection would shift the items that it found.
  const name = `platform.sort ${collection.descriptor.name}`;
  if (turn === null) await statementRows(transaction, sqlDialects[dialect].namedLock, [name]);
  else await allRows(transaction, turn, [name]);
  const readBoth = async () => [await readItem(moving, item), await readItem(moving, to)];
  await lockItems(moving, await readBoth());
  await fillPositions(moving);
  const [from, goal] = (await readBoth()).map((end) => placed(moving, end));
  if (from === undefined || goal === undefined) return;
  await shiftBetween(moving, from, goal);
}

/** Reads the items from one position to the other in their order, and writes new positions, so many at once. */
async function shiftBetween(moving: Moving, from: Placed, goal: Placed): Promise<void> {
  const { field, write } = moving;
  const shift = new Shift(from, goal);
  let high = Math.max(from.position, goal.position);
  let start = Math.min(from.position, goal.position);
  /** Positions of items that were read and are there when the next ones are read. */
  const passed = new Map<string, number>();
  for (;;) {
    const limit = together + passed.size;
    const filter = { _and: [{ [field]: { _gte: start } }, { [field]: { _lte: high } }] };
    const found = await holdItems(moving, { filter, sort: [field, ...keyNames(moving)], limit });
    const row = found.map((item) => placed(moving, item)).filter(({ id }) => !passed.has(id));
    const changed = row.flatMap((entry) => shift.add(entry));
    const isLast = found.length < limit && shift.last <= high;
    if (isLast && !shift.isComplete) throw forbidden();
    if (isLast) changed.push(shift.moved);
    if (changed.length > 0) await write(changed.map((entry) => changeOf(moving, entry)));
    if (isLast) return;
    for (const { id, position } of [...row, ...changed]) passed.set(id, position);
    start = row.at(-1)?.position ?? high;
    // Where several had the same position, those behind them may have to make room.
    if (found.length < limit) high = shift.last;
    else if (shift.last <= high) for (const [id, position] of passed) if (position < start) passed.delete(id);
  }
}

/** Positions of a row in which an item takes the place of another: they stay, as far as no two are the same. */
class Shift {
  readonly #from: Placed;
  readonly #goal: Placed;
  readonly #positions: number[] = [];
  readonly #order: Placed[] = [];
  /** Highest position that was given. */
  last = Number.NEGATIVE_INFINITY;
  #isAway = false;
  /** The item with its new position, which is written last: until then it shows where it was. */
  moved: Placed;

  constructor(from: Placed, goal: Placed) {
    this.#from = from;
    this.#goal = goal;
    this.moved = from;
  }

  /** False where one of the two was not in the row: it is gone, or its position is hidden. */
  get isComplete(): boolean {
    return this.#positions.length === 0 && this.#order.length === 0;
  }

  /** Adds the next item of the row. Gives those that have got another position by now. */
  add(entry: Placed): readonly Placed[] {
    this.#positions.push(entry.position);
    this.#order.push(...this.#following(entry));
    const changed: Placed[] = [];
    while (this.#positions.length > 0 && this.#order.length > 0) {
      const position = this.#positions.shift() ?? 0;
      this.last = position > this.last ? position : this.last + 1;
      const [next = entry] = this.#order.splice(0, 1);
      const { id } = next;
      if (id === this.#from.id) this.moved = { ...next, position: this.last };
      else if (next.position !== this.last || id === this.#goal.id) changed.push({ ...next, position: this.last });
    }
    return changed;
  }

  /** Items of the new order up to this one of the old order. */
  #following(entry: Placed): readonly Placed[] {
    const [from, goal] = [this.#from, this.#goal];
    if (entry.id === from.id) {
      this.#isAway = true;
      return from.id === goal.id ? [entry] : [];
    }
    if (entry.id !== goal.id) return [entry];
    return this.#isAway ? [entry, from] : [from, entry];
  }
}

/** Gives items without a position one after all others. */
async function fillPositions(moving: Moving): Promise<void> {
  const { field } = moving;
  const [last] = await readItems(moving, { filter: { [field]: { _nnull: true } }, sort: [`-${field}`], limit: 1 });
  let highest = last === undefined ? 0 : placed(moving, last).position;
  let before: string | undefined;
  for (;;) {
    const empty = await holdItems(moving, {
      filter: { [field]: { _null: true } },
      sort: keyNames(moving),
      limit: together,
    });
    const [first] = empty.map((entry) => idOf(moving, entry));
    // A trigger may take the positions away again.
    if (first === undefined || first === before) return;
    before = first;
    await moving.write(empty.map((entry) => changeOf(moving, { item: entry, position: ++highest })));
  }
}

/** Reads items and locks them, again until it finds none but locked ones: other requests may have changed some. */
async function holdItems(moving: Moving, query: FilterObject): Promise<readonly FilterObject[]> {
  const held = new Set<string>();
  for (;;) {
    const found = await readItems(moving, query);
    const others = found.filter((item) => !held.has(idOf(moving, item)));
    if (others.length === 0) return found;
    await lockItems(moving, others);
    for (const item of others) held.add(idOf(moving, item));
  }
}

async function lockItems(moving: Moving, items: readonly FilterObject[]): Promise<void> {
  const { transaction, caller, dialect, collection } = moving;
  const named = parseKeys(
    collection,
    items.map((item) => keyOf(moving, item)),
  );
  const { descriptor } = collection;
  const rows = { descriptor, keys: { ...named, many: true }, lock: 'NO KEY UPDATE', side: caller } as const;
  await lockRows(transaction, sqlDialects[dialect], rows);
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

function changeOf(moving: Moving, { item, position }: Pick<Placed, 'item' | 'position'>): FilterObject {
  return { ...keyOf(moving, item), [moving.field]: position };
}

function idOf(moving: Moving, item: FilterObject): string {
  return JSON.stringify(keyOf(moving, item));
}

function placed(moving: Moving, item: FilterObject): Placed {
  return { item, id: idOf(moving, item), position: Number(item[moving.field]) };
}
