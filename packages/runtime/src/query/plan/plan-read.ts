import { createHash } from 'node:crypto';
import type { Statement } from '../../database/database.ts';
import { allOf, cast, orderBy, sqlTrue, where } from '../../dialects/fragment.ts';
import type { RowLock } from '../../dialects/index.ts';
import type { Condition } from '../../language/index.ts';
import { printCondition } from '../../sql/condition.ts';
import { itemsOf } from '../../sql/implied-items.ts';
import { listedForm } from '../../sql/operand.ts';
import { readable } from '../../sql/readable.ts';
import { firstOf } from '../../sql/related.ts';
import { columnsOf, type Finished, type Row, type StatementBuilder, tableRow } from '../../sql/row.ts';
import { type CollectionScope, keyFields } from '../../sql/scope.ts';
import { createStatement } from '../../sql/statement.ts';
import { largestBufferedLimit } from '../authorise/shape.ts';
import type { Cursor } from '../parse/cursor.ts';
import { costOfRead, costOfRows } from './cost.ts';
import { keptAnswers, mayAnswerLate } from './freshness.ts';
import type { ReadPlan, ReadQuery } from './plan.ts';
import { printBounds } from './plan-bounds.ts';
import { keyValues, printKeys } from './plan-keys.ts';
import {
  apart,
  cursorColumns,
  inDirection,
  type PrintedTerm,
  planCursor,
  printAfter,
  printOrder,
} from './plan-order.ts';
import { createPage, outerOrder } from './plan-page.ts';
import { selectedItems } from './plan-returned.ts';
import { answerList, leavesTable, printSelection } from './plan-selection.ts';
import { isFoundByWords, joinFound, looksForWords } from './plan-words.ts';
import { nestedRows } from './row-bound.ts';

/**
 * Plans a read: decides the form of its one statement and prints it.
 *
 * The values of a request follow those of its conditions and nested lists. First comes the key (one value per field, or
 * one array per field for a list of keys) or the values of the cursor. The limit, if a parameter, and any offset
 * follow.
 */
export function planRead(query: ReadQuery, passes: readonly ReadPass[] = []): ReadPlan {
  const statement = createStatement(query.operands, query.scope.dialect);
  const parts = startRead(query, statement);
  const joins = query.meta.length > 0 || query.singleton;
  const lists = nestedRows(query.selection);
  const selected = selectedItems(query);
  const printed = joins ? printJoined(query, parts) : printPlain(query, parts);
  const finished = statement.finish(parts.before + printed.text);
  const { statement: built, binders } = statementOf(finished);
  const plan = {
    statement: runFor(
      query,
      query.selection.collection,
      isBrief(query, printed.text) ? { ...built, brief: true } : built,
    ),
    binders,
    ...(query.cursor && { cursor: planCursor(query.selection.collection, query.order, parts.order, query.cursor) }),
    cost: costOfRead(query),
    many: query.many,
    fields: printed.fields,
    meta: query.meta,
    ...(lists.length > 0 && { nested: lists }),
    ...(selected && { selected }),
    streamed: query.streamed,
    ...(query.exported && { exported: query.exported }),
  };
  return passes.reduce<ReadPlan>((planned, pass) => pass(planned, { query, parts, renumber: finished.renumber }), plan);
}

/** The statement as the callers of a scope run it, streamed or not. */
export function runFor(
  query: Pick<ReadQuery, 'scope' | 'streamed' | 'selector' | 'source' | 'condition'>,
  root: CollectionScope,
  statement: Statement,
): Statement {
  const { scope, streamed, source, condition } = query;
  const byValues = streamed || looksForWords(condition);
  const { isPublic } = scope;
  const mayLag = mayAnswerLate(scope, root, statement.tables) && ({ mayLag: true } as const);
  const readOnly = source !== undefined && ({ readOnly: true } as const);
  const planned = { ...statement, ...(byValues && { byValues }), ...mayLag, ...readOnly };
  if (isPublic !== true) return planned;
  const kept = keptAnswers(query, root, statement);
  return { ...planned, isPublic, ...(kept && { kept }) };
}

/** One row by its key, with nothing looked up beside it: neither for a relation, nor for a rule. */
function isBrief({ selector, selection }: ReadQuery, text: string): boolean {
  return selector === 'key' && selection.collection.descriptor.opaque !== true && text.lastIndexOf('SELECT ') === 0;
}

/** A statement under the name that belongs to its text, with the binders of its parameters. */
export function statementOf({
  text,
  binders,
  ...finished
}: Omit<Finished, 'renumber'>): Pick<ReadPlan, 'statement' | 'binders'> {
  const { tables, forms, timed, repeated, readOnly } = finished;
  const facts = { ...(forms && { forms }), ...(timed && { timed }), ...(repeated && { repeated }) };
  return { statement: { name: nameOf(text), text, tables, ...facts, ...(readOnly && { readOnly }) }, binders };
}

interface ReadDraft {
  readonly query: ReadQuery;
  readonly parts: ReadParts;
  /** As `Finished.renumber`. */
  readonly renumber: Finished['renumber'];
}

/** Completes a planned read beside the engine. */
export type ReadPass = (plan: ReadPlan, draft: ReadDraft) => ReadPlan;

type Printed = { readonly text: string; readonly fields: ReadPlan['fields'] };

/** Parts that every form of a read shares. */
export interface ReadParts {
  /** Text in front of the statement. */
  readonly before: string;
  readonly row: Row;
  /** The table, joined to the keys that were written. */
  readonly from: string;
  readonly table: string;
  readonly rows: string;
  readonly matching: string;
  /** Matching rows that the list is cut from: all of them, or those after the cursor. */
  readonly listed: { readonly from: string; readonly predicate: string };
  readonly order: readonly PrintedTerm[];
  readonly bounds: string;
}

/** Prints what every form shares: the table, its readable rows, those that match, and the bounds of the list. */
export function startRead(
  query: ReadQuery,
  statement: StatementBuilder,
  keysOf = (row: Row) => printKeys(row, query.selector, query.values),
  permitted: (row: Row) => readonly string[] = () => [],
): ReadParts {
  const { collection } = query.selection;
  const alias = statement.alias();
  const row = sourceRow(query, tableRow(statement, query.scope, collection, alias), alias);
  const rows = query.source === undefined ? readable(row) : allOf([`NOT (${alias} IS NULL)`, readable(row)]);
  const matching = allOf([rows, ...keysOf(row), printCondition(row, query.condition)]);
  const { before, name } = printSource(query, row);
  const table = `${name} ${alias}`;
  const order = query.selector === 'key' ? [] : printListOrder(row, query);
  const behind = query.cursor === undefined ? [] : [printAfter(row, order, query.cursor.start, query.values)];
  const from = query.selector === 'written' ? joinWritten(row, query, table) : table;
  const parts = { before, row, from, table, rows, matching, bounds: printListBounds(query, row) };
  if (isFoundByWords(query, statement.dialect)) return { ...parts, ...printFound(query, row, alias, permitted) };
  return { ...parts, order, listed: { from, predicate: allOf([matching, ...behind, ...permitted(row)]) } };
}

/** Rows that words find, in place of the table and what they have to match. */
function printFound(
  query: ReadQuery,
  row: Row,
  alias: string,
  permitted: (row: Row) => readonly string[],
): Pick<ReadParts, 'order' | 'listed'> {
  const { limit, offset, cursor, values } = query;
  const bounds = { limit, offset, beyond: beyondOf(cursor) };
  const list = { row, alias, order: printListOrder(row, query), bounds, index: boundsIndex(query) };
  const { from, order } = joinFound(query, list, (found) => {
    const terms = printListOrder(found, query);
    const behind = cursor === undefined ? [] : [printAfter(found, terms, cursor.start, values)];
    const condition = printCondition(found, query.condition);
    return { order: terms, predicate: allOf([readable(found), condition, ...behind, ...permitted(found)]) };
  });
  return { order, listed: { from, predicate: sqlTrue } };
}

/** Rows that are taken once have no type of their own. */
function sourceRow({ source, meta }: ReadQuery, row: Row, alias: string): Row {
  const { descriptor } = row.collection;
  if (source === undefined || meta.length === 0) return row;
  return { ...row, column: columnsOf(descriptor, alias, `ROW(${alias}.*)::${descriptor.table}`) };
}

/** Rows of another source are taken once, however often the statement looks at them; a row of nulls is none. */
function printSource({ source, selector, selection, meta }: ReadQuery, row: Row) {
  const { statement } = row;
  const { table } = selection.collection.descriptor;
  if (source === undefined) return { before: '', name: selector === 'list' ? itemsOf(row) : table };
  const rows = source(statement);
  if (meta.length === 0) return { before: '', name: rows };
  const name = statement.alias();
  return { before: `WITH ${name} AS MATERIALIZED (SELECT * FROM ${rows}) `, name };
}

function printPlain(query: ReadQuery, parts: ReadParts): Printed {
  const list = query.selector !== 'key' && !isCutFirst(query, parts);
  return list && leavesTable(query.selection) ? printPaged(query, parts) : printFlat(query, parts);
}

/**
 * True if the list is cut before anything is computed for its rows although it has no page. Where rows of several
 * tables are joined the server may compute all of them first. So it may where a filter or an order looks at others.
 */
function isCutFirst({ selector, selection }: ReadQuery, { row, listed, order }: ReadParts): boolean {
  if (!row.statement.dialect.selectsLast || selector === 'written') return false;
  const isOneTable = selection.collection.descriptor.opaque !== true && !/\bSELECT\b/.test(listed.predicate);
  return isOneTable && order.every(({ column }) => column !== undefined);
}

/** The keys that were written, numbered in their order, joined to their rows. */
function joinWritten(row: Row, query: ReadQuery, table: string): string {
  const { dialect, parameter } = row.statement;
  const fields = keyFields(row.collection.descriptor);
  const columns = fields.map((field, index) => {
    return { name: `k${index}`, ...listedForm(field), list: query.values + index };
  });
  const input = dialect.input.table(parameter, { columns, alias: 'k', numbered: true, as: false });
  const joins = fields.map((field, index) => dialect.input.equal(row.column(field.column), `k.k${index}`, field));
  return `${input}${dialect.input.join}${table} ON ${joins.join(' AND ')}`;
}

/** Written items are answered in the order of the keys, unless the request asks for another one. */
function printListOrder(row: Row, query: ReadQuery): readonly PrintedTerm[] {
  if (query.selector === 'written' && query.order.length === 0) return [{ expression: 'k.n', direction: '' }];
  // Rows of another source have the order in which they come.
  if (query.source !== undefined && query.order.length === 0 && query.cursor === undefined) return [];
  const order = inDirection(printOrder(row, query.order, query.cursor !== undefined), query.cursor);
  return query.cursor === undefined && isFoundByTrigrams(row, query.condition) ? order.map(apart) : order;
}

/** True if an index finds the rows by parts of their texts. */
function isFoundByTrigrams(row: Row, condition: Condition): boolean {
  if (condition.kind === 'and') return condition.of.some((part) => isFoundByTrigrams(row, part));
  if (condition.kind === 'or') {
    return condition.of.length > 0 && condition.of.every((part) => isFoundByTrigrams(row, part));
  }
  if (condition.kind !== 'compare' || !trigramOperators.has(condition.operator)) return false;
  const field = row.collection.fields.get(condition.field);
  return field?.grant === null && field.descriptor.trigrams === true;
}

const trigramOperators: ReadonlySet<string> = new Set(['_contains', '_icontains']);

/** Rows that a write selects: the predicate for those that it may write, and the lock on them. */
export interface RequestedTargets {
  readonly permitted: (row: Row) => string;
  /** Default: not at all. */
  readonly lock?: RowLock;
}

/**
 * Plans which rows a write is about: the readable ones that match and that `permitted` lets through, by their keys. Answers
 * one row: null, their number, and one array per key field, all as text.
 */
export function planTargets(query: ReadQuery, { permitted, lock }: RequestedTargets): ReadPlan {
  const statement = createStatement(query.operands, query.scope.dialect);
  const parts = startRead(query, statement, undefined, (row) => [permitted(row)]);
  const { row, listed, bounds } = parts;
  const { count, collectedArray: arrayOf, place: position } = query.scope.dialect.input;
  const fields = keyFields(row.collection.descriptor);
  const keys = fields.map((field, index) => `${cast(row.column(field.column), field.comparison)} AS k${index}`);
  const rows = where(listed.predicate);
  const order = orderBy(listed.from === parts.from ? printOrder(row, query.order) : parts.order);
  const { descriptor } = row.collection;
  // A lock looks at its row again when it has waited, and at no other one; and all have to lock in one order.
  const locksRows =
    lock !== undefined && descriptor.unlockable !== true && query.order.length === 0 && !/\bSELECT\b/.test(rows);
  const locks = locksRows ? query.scope.dialect.input.lock(lock, row.column('').slice(0, -1)) : '';
  const list = `SELECT ${keys.join(', ')}${position(order)} FROM ${listed.from}${rows}${order}${bounds}${locks}`;
  const arrays = fields.map((field, index) => arrayOf({ value: `k.k${index}`, settled: 'k.n', field }));
  const text = `SELECT ${['NULL', count(), ...arrays].join(', ')} FROM (${list}) k`;
  const cost = costOfRows(query);
  const plan = { cost, many: true, fields: [], meta: [], streamed: false } as const;
  return { ...statementOf(statement.finish(text)), ...plan, ...(locksRows && { locksRows }) };
}

/** One level: columns of one table, or one item, whose nested parts are computed once anyway. */
function printFlat(query: ReadQuery, { row, listed, order, bounds }: ReadParts): Printed {
  const { expressions, fields } = printSelection(row, query.selection, query.nested);
  const columns = answerList(row.statement, hidden(query, row, order), expressions, fields);
  return { text: `SELECT ${columns} FROM ${listed.from}${where(listed.predicate)}${orderBy(order)}${bounds}`, fields };
}

/** Columns selected for each row beside the item. */
export function hidden(
  { cursor }: Pick<ReadQuery, 'cursor'>,
  { statement }: Row,
  order: readonly PrintedTerm[],
): readonly string[] {
  return cursor === undefined ? [] : cursorColumns(statement.dialect, order);
}

function printPaged(query: ReadQuery, { row, listed, order, bounds }: ReadParts): Printed {
  const page = createPage(row);
  const outer = outerOrder(page, order);
  const { expressions, fields } = printSelection(page.row, query.selection, query.nested);
  const columns = answerList(row.statement, hidden(query, row, outer), expressions, fields);
  const source = page.print(() => listed.from, listed.predicate, order, bounds);
  return { text: `SELECT ${columns} FROM ${source}${orderBy(outer)}`, fields };
}

/** The list joined to one row that is always there, for counts of an empty list and a singleton's defaults. */
function printJoined(query: ReadQuery, parts: ReadParts): Printed {
  const { row, from, table, rows, matching, listed, order, bounds } = parts;
  const { dialect } = row.statement;
  const page = createPage(row);
  const present = page.extra('TRUE');
  const outer = outerOrder(page, order);
  const single = query.singleton;
  const item = single ? orDefaults(page.row, present) : page.row;
  const { expressions, fields } = printSelection(item, query.selection, query.nested);
  const counts = query.meta.map((name, index) => {
    const counted = name === 'total_count' ? `${table}${where(rows)}` : `${from}${where(matching)}`;
    return `(SELECT ${dialect.countRows} FROM ${counted}) AS c${index}`;
  });
  const meta = row.statement.alias();
  const carried = counts.map((_, index) => `${meta}.c${index}`);
  const flag = counts.length === 0 ? [] : [dialect.flag(single ? 'TRUE' : `${present} IS NOT NULL`)];
  const first = [...carried, ...flag, ...hidden(query, row, outer)];
  const columns = answerList(row.statement, first, expressions, fields);
  const source = page.print(() => listed.from, listed.predicate, order, bounds);
  const text = `SELECT ${columns} FROM (SELECT ${counts.length === 0 ? dialect.noColumns : counts.join(', ')}) ${meta} LEFT JOIN ${source} ON TRUE`;
  return { text: text + orderBy(outer), fields };
}

/** LIMIT and OFFSET with a leading space. */
function printListBounds(query: ReadQuery, row: Row): string {
  if (query.selector === 'key') return firstOf(row);
  const { limit, offset, cursor } = query;
  return printBounds(row.statement, { limit, offset, beyond: beyondOf(cursor) }, boundsIndex(query));
}

function boundsIndex({ selection, selector, values, cursor }: ReadQuery): number {
  return values + keyValues(selection.collection, selector) + heldBy(cursor);
}

/** A list that is paged by cursor reads one row more, to know whether its page is the last. */
export function beyondOf(cursor: Cursor | undefined): number {
  return cursor === undefined ? 0 : 1;
}

function heldBy(cursor: Cursor | undefined): number {
  if (cursor === undefined || cursor.start === 'first') return 0;
  return cursor.start.filter((value) => value !== null).length;
}

/** True if so many rows are sent as they come instead of being collected. */
export function isStreamed(limit: number, keys: number | undefined): boolean {
  const maxRows = keys === undefined ? limit : limit === -1 ? keys : Math.min(limit, keys);
  return maxRows === -1 || maxRows > largestBufferedLimit;
}

/** Statements of equal text have equal names on every connection, regardless of the planner. */
export function nameOf(text: string): string {
  return `r_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;
}

/**
 * A row that may be missing, seen as what the database would make of it: constant defaults where there is one, else
 * null. So a singleton reads as its defaults before its first write (API specification, section 4).
 *
 * `present` is an expression that is true on a row that is there, and null otherwise.
 */
function orDefaults(row: Row, present: string): Row {
  const defaults = new Map(
    row.collection.descriptor.fields.flatMap(({ column, default: constant }) =>
      constant === undefined ? [] : [[column, constant] as const],
    ),
  );
  return {
    ...row,
    isStored: false,
    column(quoted) {
      const column = row.column(quoted);
      const constant = defaults.get(quoted);
      if (constant === undefined) return column;
      const value = row.statement.parameter({ kind: 'fixed', value: constant.text }, constant.type);
      return `(CASE WHEN ${present} THEN ${column} ELSE ${value} END)`;
    },
  };
}
