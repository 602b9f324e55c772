/**
 * Lists of a search by words. A rank has to be computed for each row that matches, where no index spares that. So only some
 * rows are ranked, the last ones by their key. All others come after them, from the last one on.
 *
 * These rows are found in a subquery with a larger limit, by which the server plans it. It goes through the key for frequent
 * words, and asks the index of words for others. With the limit of the list, words that no row has would read all rows.
 */
import { allOf, orderBy, where } from '../../dialects/fragment.ts';
import type { SqlDialect } from '../../dialects/index.ts';
import type { Condition } from '../../language/index.ts';
import { type Row, tableRow } from '../../sql/row.ts';
import { keyFields } from '../../sql/scope.ts';
import type { Bounds } from '../parse/request.ts';
import type { ReadQuery } from './plan.ts';
import { printReach } from './plan-bounds.ts';
import { apart, type PrintedTerm } from './plan-order.ts';

/** True if words find the rows of a list on a server that ranks some of them. */
export function isFoundByWords(query: ReadQuery, { rankedRows }: SqlDialect): boolean {
  const { selector, selection, condition, order, limit, singleton, source } = query;
  if (rankedRows === undefined || (selector !== 'list' && selector !== 'targets') || singleton || source) return false;
  const { opaque, key } = selection.collection.descriptor;
  if (opaque === true || key.length === 0 || !looksForWords(condition)) return false;
  // All rows in an order of their own are found in any way, and the order of vectors is that of their index.
  return isRanked(order) || (limit !== -1 && order.every(({ by }) => by.kind !== 'distance'));
}

/** True if rows need to have words. */
export function looksForWords(condition: Condition): boolean {
  if (condition.kind === 'and') return condition.of.some(looksForWords);
  return condition.kind === 'compare' && condition.operator === '_words';
}

function isRanked([first]: ReadQuery['order']): boolean {
  return first?.by.kind === 'words';
}

/** The list: its bounds, whose values stand at `index`, and its order. */
interface WordsList {
  readonly row: Row;
  readonly alias: string;
  readonly order: readonly PrintedTerm[];
  readonly bounds: Bounds;
  readonly index: number;
}

/** Prints the order of the list and the condition that rows have to match, on one of them. */
type PrintFound = (row: Row) => { readonly order: readonly PrintedTerm[]; readonly predicate: string };

/**
 * The server plans to find so many times as many rows as it finds. It reckons each row that the index of words finds as a page
 * from a disk. That is eleven times as dear as a row that it passes by on its way through the key; in memory it is four times.
 */
const plannedTimes = 2.5;

/** The table joined to the keys of the rows that are found, and the order of the list. */
export function joinFound(query: Pick<ReadQuery, 'order'>, list: WordsList, print: PrintFound) {
  const { statement, scope, collection } = list.row;
  const [inner, planned, found] = [statement.alias(), statement.alias(), statement.alias()];
  const row = tableRow(statement, scope, collection, inner);
  const key = keyFields(collection.descriptor).map(({ column }) => column);
  const { order, predicate } = print(row);
  const ranked = isRanked(query.order);
  const lastFirst = key.map((column): PrintedTerm => ({ expression: row.column(column), direction: ' DESC' }));
  const terms = ranked ? lastFirst : order;
  // Words of an expression are made anew for each row that is looked at.
  const within = hasStoredWords(row) ? terms : terms.map(apart);
  const keys = key.map((column, position) => `${row.column(column)} AS k${position}`);
  const places = within.map(({ expression }, position) => `${expression} AS o${position}`);
  const least = statement.dialect.rankedRows ?? 0;
  const { table } = collection.descriptor;
  const longer = printReach(statement, list.bounds, list.index, plannedTimes * least);
  const cut = longer && ` LIMIT ${longer}`;
  const rows = `SELECT ${[...keys, ...places].join(', ')} FROM ${table} ${inner}${where(predicate)}${orderBy(within)}${cut}`;
  const again = within.map(({ direction }, position) => ({ expression: `${planned}.o${position}`, direction }));
  const columns = key.map((_, position) => `${planned}.k${position}`);
  const number = `pg_catalog.row_number() OVER (${orderBy(again).trimStart()}) AS n`;
  const numbered = `SELECT ${[...columns, number].join(', ')} FROM (${rows}) ${planned}`;
  // By the number of a row the server stops, but does not plan to.
  const last = printReach(statement, list.bounds, list.index, ranked ? least : 0);
  const joined = key.map((column, position) => `${list.row.column(column)} = ${found}.k${position}`);
  const on = allOf([...joined, ...(last === '' ? [] : [`${found}.n <= ${last}`])]);
  return {
    from: `${table} ${list.alias} JOIN (${numbered}) ${found} ON ${on}`,
    // In an order that an index gives, the server would plan to find only as many rows as the list has.
    order: ranked ? rankedFirst(list.order, `${found}.n`, least) : list.order.map(apart),
  };
}

/** False where they are those of an expression. */
function hasStoredWords({ collection }: Row): boolean {
  return /^\{"(?:[^"]|"")*"\}$/.test(collection.descriptor.search?.document ?? '');
}

/** Ranked rows, then others by their number. */
function rankedFirst([rank, ...key]: readonly PrintedTerm[], number: string, ranked: number): readonly PrintedTerm[] {
  if (rank === undefined) return key;
  // No rank is below zero.
  const expression = `CASE WHEN ${number} <= ${ranked} THEN ${rank.expression} ELSE -1 END`;
  return [{ ...rank, expression }, { expression: `GREATEST(${number}, ${ranked})`, direction: '' }, ...key];
}
