/** Items that a write is about without naming their keys: those of a query, and the one of a singleton. */
import type { Caller } from '../../caller.ts';
import type { Parameter, Statement, Transaction } from '../../database/database.ts';
import { allRows, nameStatement, type OwnSql, statementRows } from '../../database/own-statements.ts';
import { runAs } from '../../database/row-context.ts';
import { allOf, keyColumn, orderBy, where } from '../../dialects/fragment.ts';
import { ownTables, type RowLock, sqlDialects } from '../../dialects/index.ts';
import { invalidQuery } from '../../errors.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type { CompiledApi, FieldDescriptor, JsonValue } from '../../language/index.ts';
import { isOperator } from '../../language/operators/index.ts';
import { createEmpty } from '../../language/values/bounded-cache.ts';
import { parseListRequest, readBodyQuery } from '../../query/parse/parse-read.ts';
import type { ReadLimits } from '../../query/parse/request.ts';
import { printKeyFields } from '../../query/plan/plan-keys.ts';
import { printOrder } from '../../query/plan/plan-order.ts';
import type { RequestedTargets } from '../../query/plan/plan-read.ts';
import { bind } from '../../query/planner.ts';
import { checkReadSyntax, prepareRead } from '../../query/prepare.ts';
import type { RequestedRead } from '../../query/prepared.ts';
import { readRows } from '../../sql/array-text.ts';
import { readable } from '../../sql/readable.ts';
import { tableRow } from '../../sql/row.ts';
import { type CollectionScope, keyFields } from '../../sql/scope.ts';
import { createStatement } from '../../sql/statement.ts';
import { systemPlaceOf } from '../../system/place.ts';
import type { WritableCollection, WriteScope } from '../access/scope.ts';
import type { Keys } from '../decode/keys.ts';
import { checkCount } from '../decode/parse-body.ts';
import { lockRows } from './lock-rows.ts';
import type { Running } from './running.ts';

/** A statement that finds keys. */
interface Targets {
  readonly statement: Statement;
  readonly parameters: readonly Parameter[];
  /** True if it locks the items that it finds. Default: false. */
  readonly locksRows?: boolean;
}

/** Input of `prepareTargets`. */
interface TargetRequest {
  readonly scope: WriteScope;
  readonly caller: Caller;
  readonly collection: string;
  readonly query: JsonValue;
  readonly limits: ReadLimits;
  readonly targets: RequestedTargets;
}

/** The syntax of a query, before anybody looks at names. Throws INVALID_QUERY. */
export function checkTargetsSyntax(requested: Omit<TargetRequest, 'targets'>): void {
  checkReadSyntax(requestedTargets(requested));
}

/** Prepares a query as a read is: everything about it is judged, and only readable items match. There is no default limit. */
export function prepareTargets(requested: TargetRequest): Targets {
  // The items that may be written depend on the data too, so the plan is of no use to another request.
  const { plan, values } = prepareRead(createEmpty(null), {
    ...requestedTargets(requested),
    targets: requested.targets,
  });
  const { statement, binders, locksRows = false } = plan;
  const parameters = bind(binders, values, requested.caller);
  return { statement: runAs(statement, requested.caller), parameters, locksRows };
}

function requestedTargets({ scope, collection, limits, query }: Omit<TargetRequest, 'targets'>): RequestedRead {
  const tree = readBodyQuery(query);
  const parsed = parseListRequest(tree, limits);
  // One that is null or an empty text was meant to be one, too.
  if (isObject(query) && Object.hasOwn(query, 'filter')) refuseEmpty(parsed.filter?.value ?? {}, []);
  const { aggregate, exported: _exported, ...request } = parsed;
  // Without groups, `having` would leave out no item.
  if (aggregate !== undefined) throw invalidQuery('A write has no groups: "query" chooses single items.');
  const requested = { ...request, meta: [], limit: tree.has('limit') ? request.limit : -1 };
  return { scope: scope.read, limits, selector: 'targets', collection, request: requested };
}

/**
 * Throws INVALID_QUERY for an object without conditions in a filter. Every item meets it, and clients that leave out a
 * value send it. `_some` and `_none` take it, which ask whether there are related items.
 */
function refuseEmpty(filter: JsonValue, path: readonly string[]): void {
  if (typeof filter !== 'object' || filter === null || JSON.isRawJSON(filter)) return;
  const entries = Object.entries(filter);
  if (isObject(filter) && entries.length === 0) {
    const location = path.length === 0 ? '' : ` at "${path.join('.')}"`;
    throw invalidQuery(`The filter${location} has no condition. Leave "filter" out to write every item.`);
  }
  for (const [key, value] of entries) {
    const isQuantified = (key === '_some' || key === '_none') && isObject(value) && Object.keys(value).length === 0;
    if (!isQuantified && !isOperator(key)) refuseEmpty(value, [...path, key]);
  }
}

/** The item of a singleton that the caller may read, else the one that there is; none where key values differ. */
export function prepareSingleton(
  scope: WriteScope,
  { collection }: WritableCollection,
  caller: Caller,
  named: { readonly fields: readonly FieldDescriptor[]; readonly values: readonly string[] } = {
    fields: [],
    values: [],
  },
): Targets {
  const statement = createStatement(new Map(), scope.open.dialect);
  const { count, collectedArray: arrayOf } = scope.open.dialect.input;
  const readableOne = scope.read.collections.get(collection.descriptor.name);
  const alias = statement.alias();
  const seen = readableOne === undefined ? scope.open : scope.read;
  const row = tableRow(statement, seen, readableOne ?? collection, alias);
  const { table } = collection.descriptor;
  const fields = keyFields(collection.descriptor);
  const keys = fields.map((field, index) => {
    return `${keyColumn(row.column(field.column), field)} AS k${index}`;
  });
  const conditions = printKeyFields(row, named.fields, 'key', 0);
  const same = conditions.length === 0 ? [] : [`CASE WHEN ${allOf(conditions)} THEN 1 END AS own`];
  const first = `SELECT ${[...keys, ...same].join(', ')} FROM ${table} ${alias}${where(readable(row))}${orderBy(printOrder(row, []))} LIMIT 1`;
  const arrays = fields.map((field, index) => arrayOf({ value: `k.k${index}`, field }));
  const any = `(SELECT ${count()} FROM (SELECT 1 FROM ${table} LIMIT 1) x)`;
  const finished = statement.finish(
    `SELECT ${['NULL', any, ...arrays].join(', ')} FROM (${first}) k${where(allOf(same.map(() => 'k.own = 1')))}`,
  );
  const parameters = bind(finished.binders, named.values, caller);
  return { statement: runAs(nameStatement(finished), caller), parameters };
}

/** Runs a statement that finds keys; null when there are none. */
export async function findTargets(transaction: Transaction, { statement, parameters }: Targets) {
  const [row = []] = await statementRows(transaction, statement, parameters);
  const [, count, ...values] = row;
  const arrays = values.flatMap((value) => value ?? []);
  return {
    count: Number(count),
    keys: arrays.length === 0 ? null : { count: Number(count), many: true, values: arrays },
  };
}

/**
 * Makes each write of a singleton wait for the one before it, so that the item is made only once. Runs before the
 * statement that looks for the item, because a statement does not see rows committed while it waited.
 */
export async function lockSingleton(
  { transaction, dialect, caller, turn }: Pick<Running, 'transaction' | 'dialect' | 'caller' | 'turn'>,
  { collection: { descriptor } }: WritableCollection,
): Promise<void> {
  if (turn != null) await allRows(transaction, turn, [descriptor.table]);
  else await transaction.run(runAs(dialect.namedLock, caller), [descriptor.table], { row: () => {} });
}

/** Turns that all nodes of a cluster know; null where the locks of the dialect do, or the platform has no tables for them. */
export function clusterTurn(api: Pick<CompiledApi, 'collections' | 'dialect'>): OwnSql | null {
  const location = systemPlaceOf(api);
  if (location === null || sqlDialects[api.dialect].namedLock.locksSession !== true) return null;
  return ownTables(location).turn();
}

/** Collection to lock, kind of lock, and maximum number of items; null for no maximum. */
interface Holding {
  readonly collection: CollectionScope;
  readonly lock: RowLock;
  readonly maxCount: number | null;
}

/** Runs a statement that finds keys, of a collection that fits the database. */
export async function find(
  { transaction, driftGuard }: Pick<Running, 'transaction' | 'driftGuard'>,
  targets: Targets,
): ReturnType<typeof findTargets> {
  driftGuard(targets.statement);
  return findTargets(transaction, targets);
}

/**
 * Finds the items that a query selects and locks them; null when there are none. Another request may change or lock an
 * item between the query and the lock. So the query runs again until it selects only locked items: two workers who each
 * take the first free item get different ones. Where the query looks at the items alone, the first run locks them.
 * Throws INVALID_PAYLOAD for too many.
 */
export async function findHeld(
  running: Running,
  targets: Targets,
  { collection, lock, maxCount: maxItems }: Holding,
): Promise<Keys | null> {
  const { transaction, caller, dialect } = running;
  const held = new Set<string>();
  let { keys, count } = await find(running, targets);
  for (;;) {
    checkCount(count, maxItems);
    const rows =
      keys === null || targets.locksRows === true ? [] : readRows(keys.values).map((key) => JSON.stringify(key));
    if (keys === null || rows.every((key) => held.has(key))) return keys;
    for (const key of rows) held.add(key);
    // A statement of its own: it sees what the lock has waited for.
    const locked = lockRows(transaction, dialect, { descriptor: collection.descriptor, keys, lock, side: caller });
    [{ keys, count }] = await Promise.all([find(running, targets), locked]);
  }
}
