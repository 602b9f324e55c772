/** Changes of one stored item by its key, and removals. Rules stand in WHERE. */
import { allOf, anyOf, sqlTrue, transactionNumber, where } from '../../dialects/fragment.ts';
import type { RowLock, SqlDialect } from '../../dialects/index.ts';
import type { CollectionDescriptor } from '../../language/index.ts';
import { keyType } from '../../sql/operand.ts';
import type { Row } from '../../sql/row.ts';
import { type Check, type CheckedRow, printAllowed, requirementsOf, type Written } from '../checks/check.ts';
import { checksOf } from '../checks/checks.ts';
import { type Removal, type Removed, removal, ruleMatches } from '../checks/presets.ts';
import { type Assigned, assignEach, assignments, assignShared, type Stored } from './assigned.ts';
import type { InputColumn } from './inputs.ts';
import {
  createReturning,
  type Drafting,
  finishWrite,
  inputTable,
  keyColumns,
  keyInputs,
  keysEqual,
  keysOf,
  manyAnswers,
  presenceInputs,
  present,
  type Returned,
  returnedColumns,
  rowColumns,
  ruleRow,
  singleAnswers,
  startWrite,
  type WriteStatement,
} from './statement.ts';

/** Plans the UPDATE of one item under one rule; without data it only looks. `returned`: it answers the item itself. */
export function planUpdateOne(written: Written, returned?: Returned): WriteStatement {
  const drafting = startWrite(written);
  const alias = drafting.statement.alias();
  const column = rowColumns(written, alias);
  const { assigned, row, rows } = findOne(drafting, column);
  const { table, unlockable } = written.writable.collection.descriptor;
  const counts = returned === undefined ? ["'1'"] : [];
  const result = returned === undefined ? [] : returnedColumns(drafting, returned, column);
  if (assigned.length === 0) {
    const selected = ['NULL', ...counts, ...result].join(', ');
    // Related items in the payload are compared with stored ones: two requests must not do so at once.
    const lock = unlockable ? '' : drafting.statement.dialect.input.lock('NO KEY UPDATE', alias);
    return finishWrite(drafting, `SELECT ${selected} FROM ${table} AS ${alias} WHERE ${rows}${lock}`, {});
  }
  const checks = checksOf(written).filter(({ late }) => !late);
  const judged = singleAnswers(checks, { row, matched: present, present });
  const columns = [transactionNumber, ...counts, ...judged, ...result];
  const update = `UPDATE ${table} AS ${alias} SET ${assignments(assigned)} WHERE ${rows}`;
  const judgements = checks.map(({ permissionCheck }) => permissionCheck);
  return finishWrite(drafting, `${update} RETURNING ${columns.join(', ')}`, { judgements });
}

/** The stored item that a key names, what its columns get, and where it is found: the row as rules see it, and the condition. */
function findOne(
  drafting: Drafting,
  column: (quoted: string) => string,
): { readonly assigned: readonly Assigned[]; readonly row: Row; readonly rows: string } {
  const { written, inputs } = drafting;
  const row = ruleRow(drafting, column);
  const key = keysOf(written).map((field, part) => inputs.take({ kind: 'key', part }, keyType(field).native));
  const assigned = assignShared(drafting, { column, match: null });
  const rules = written.grant.rules.map((rule) => ruleMatches(row, rule));
  return { assigned, row, rows: allOf([keysEqual(keyColumns(written, column), key), anyOf(rules)]) };
}

/** Plans the DELETE of one item, or of several, as far as some rule allows it; of archived ones an UPDATE. */
export function planDelete(written: Written, removed: Removal, many: boolean): WriteStatement {
  const drafting = startWrite(written);
  const { statement, inputs } = drafting;
  const alias = statement.alias();
  const column = rowColumns(written, alias);
  const { allowedOn, sets }: Removed = removal(drafting, removed);
  const rowKey = keyColumns(written, column);
  const { descriptor } = written.writable.collection;
  const { table } = descriptor;
  const kind = sets === null ? ({ kind: 'delete' } as const) : {};
  if (!many) {
    const key = keysOf(written).map((field, part) => inputs.take({ kind: 'key', part }, keyType(field).native));
    const rows = allOf([keysEqual(rowKey, key), allowedOn(ruleRow(drafting, column))]);
    return finishWrite(
      drafting,
      `${sets === null ? `DELETE FROM ${table} AS ${alias}` : `UPDATE ${table} AS ${alias} SET ${sets('')}`} WHERE ${rows} RETURNING ${transactionNumber}, '1'`,
      kind,
    );
  }
  const columns = keyInputs(drafting);
  const input = columns.map(({ name }) => `i.${name}`);
  const stored = statement.alias();
  const storedColumn = rowColumns(written, stored);
  const keys = keyColumns(written, storedColumn);
  const locked = selectLocked(statement.dialect, {
    descriptor,
    selected: 'i.*',
    from: `${inputTable(drafting, columns, 'i')} JOIN ${table} AS ${stored} ON ${keysEqual(keys, input)}`,
    rows: allowedOn(ruleRow(drafting, storedColumn)),
    alias: stored,
    keys,
    lock: 'UPDATE',
  });
  const change =
    sets === null ? `DELETE FROM ${table} AS ${alias} USING` : `UPDATE ${table} AS ${alias} SET ${sets('')} FROM`;
  const gone = `${change} (${locked}) i WHERE ${keysEqual(rowKey, input)} RETURNING i.n`;
  const text = `WITH w AS (${gone}) SELECT ${transactionNumber}, ${countOf(written, 'w.n')} FROM w`;
  return finishWrite(drafting, text, kind);
}

/** Number of rows that keys have found, as text; -1 where child tables repeat one of the keys, whose positions are `n`. */
function countOf({ writable }: Written, n: string): string {
  const count = 'pg_catalog.count(*)';
  const { inherited } = writable.collection.descriptor;
  const once = `CASE WHEN ${count} = pg_catalog.count(DISTINCT ${n}) THEN ${count} ELSE -1 END`;
  return inherited === true ? `(${once})::pg_catalog.text` : `${count}::pg_catalog.text`;
}

interface Update {
  readonly alias: string;
  /** The input, as the table `i`. */
  readonly source: string;
  /** Stored rows by their inputs. */
  readonly rows: string;
  readonly assigned: readonly Assigned[];
  /** SQL predicate that is true if an item has the field of a column. */
  flag(index: number): string;
}

/**
 * Plans the UPDATE of several items, with the same data (`shared`) or each with its own. Without data or presets it
 * only looks for the items. With `returned`, which takes data, it returns the items itself, in the order of the input,
 * and no late checks may be left. Rows are locked in the order of their keys, unless `impatient`. A statement that
 * waits for no lock needs no order, and saves a look at each row. That is for one rule and items that are complete.
 */
export function planUpdateMany(
  written: Written,
  shared: boolean,
  returned?: Returned,
  impatient = false,
): WriteStatement {
  const drafting = startWrite(written);
  const update = draftUpdate(drafting, shared, impatient);
  return update.assigned.length > 0 ? finishUpdate(drafting, update, returned) : finishLook(drafting, update);
}

/** Plans the look for items that may be changed so, and locks them. */
export function planFound(written: Written, shared: boolean): WriteStatement {
  const drafting = startWrite(written);
  return finishLook(drafting, draftUpdate(drafting, shared, false));
}

function finishLook(drafting: Drafting, update: Update): WriteStatement {
  const { written } = drafting;
  const { table } = written.writable.collection.descriptor;
  const from = `${update.source}, ${table} AS ${update.alias}`;
  const matched = lateRules(written, checksOf(written));
  const selected = ['NULL', countOf(written, 'i.n'), ...matched.map((rule) => matchesOf(`i.m${rule}`, 'i.n'))];
  const text = `SELECT ${selected.join(', ')} FROM ${from}${where(update.rows)}`;
  return finishWrite(drafting, text, { matched });
}

function draftUpdate(drafting: Drafting, shared: boolean, impatient: boolean): Update {
  const { written, statement } = drafting;
  const alias = statement.alias();
  const batch = written.grant.rules.length > 1;
  const column = rowColumns(written, alias);
  const stored: Stored = { column, match: batch ? (rule) => `i.m${rule}` : null };
  const incomplete = [...written.columns.keys()].filter((index) => written.columns[index]?.complete === false);
  const flag = (index: number): string => (incomplete.includes(index) ? `i.p${index}` : sqlTrue);
  const keys = keyInputs(drafting);
  const { assigned, arrays } = shared
    ? { assigned: assignShared(drafting, stored), arrays: [] }
    : assignEach(drafting, stored);
  const columns = [...keys, ...presenceInputs(incomplete), ...arrays];
  const rows = keysEqual(keyColumns(written, column), named(keys));
  if (impatient) {
    const row = ruleRow(drafting, column);
    const allowed = anyOf(written.grant.rules.map((rule) => ruleMatches(row, rule)));
    return { alias, source: inputTable(drafting, columns, 'i'), rows: allOf([rows, allowed]), assigned, flag };
  }
  const lock = lockOfUpdate(
    written.writable.collection.descriptor,
    assigned.map(({ field }) => field.name),
  );
  return { alias, source: storedRows(drafting, columns, keys, flag, lock), rows, assigned, flag };
}

function named(columns: readonly InputColumn[]): readonly string[] {
  return columns.map(({ name }) => `i.${name}`);
}

/**
 * The stored rows that may be changed so, locked, with the input beside them and the result of each rule. A field is
 * granted only by a rule that matches the row as it was.
 */
function storedRows(
  drafting: Drafting,
  columns: readonly InputColumn[],
  keys: readonly InputColumn[],
  flag: (index: number) => string,
  lock: RowLock,
): string {
  const { written, statement } = drafting;
  const alias = statement.alias();
  const column = rowColumns(written, alias);
  const row = ruleRow(drafting, column);
  const rules = written.grant.rules.map((rule) => ruleMatches(row, rule));
  const matches = rules.length > 1 ? rules.map((predicate, rule) => `(${predicate}) IS TRUE AS m${rule}`) : [];
  const allowed = printAllowed(requirementsOf(written), (rule) => rules[rule] ?? sqlTrue, flag);
  const { descriptor } = written.writable.collection;
  const rowKey = keyColumns(written, column);
  const from = `${inputTable(drafting, columns, 'i')} JOIN ${descriptor.table} AS ${alias} ON ${keysEqual(rowKey, named(keys))}`;
  const selected = ['i.*', ...matches].join(', ');
  return `(${selectLocked(statement.dialect, { descriptor, selected, from, rows: allowed, alias, keys: rowKey, lock })}) i`;
}

function finishUpdate(
  drafting: Drafting,
  { alias, source, rows, assigned, flag }: Update,
  returned: Returned | undefined,
): WriteStatement {
  const { written } = drafting;
  const batch = written.grant.rules.length > 1;
  const returning = createReturning(rowColumns(written, alias), 'w');
  const position = returning.take('i.n');
  const match = (rule: number): string => (batch ? returning.take(`i.m${rule}`) : sqlTrue);
  const judged: CheckedRow = {
    row: ruleRow(drafting, returning.column),
    matched: match,
    present: (index) => (flag(index) === sqlTrue ? sqlTrue : returning.take(flag(index))),
  };
  const all = checksOf(written);
  const checks = all.filter(({ late }) => !late);
  const matched = lateRules(written, all);
  const result =
    returned === undefined
      ? []
      : [...singleAnswers(checks, judged), ...returnedColumns(drafting, returned, returning.column)];
  const aggregated = () => [
    countOf(written, position),
    ...matched.map((rule) => matchesOf(match(rule), position)),
    ...manyAnswers(drafting, checks, judged, position),
  ];
  const selected = [transactionNumber, ...(returned === undefined ? aggregated() : result)];
  const { table } = written.writable.collection.descriptor;
  const update = `UPDATE ${table} AS ${alias} SET ${assignments(assigned)} FROM ${source}${where(rows)}`;
  const order = returned === undefined ? '' : ` ORDER BY ${position}`;
  const text = `WITH w AS (${update} RETURNING ${returning.list()}) SELECT ${selected.join(', ')} FROM w${order}`;
  return finishWrite(drafting, text, { matched, judgements: checks.map(({ permissionCheck }) => permissionCheck) });
}

/** Rules whose match on the stored rows is asked for later: all, since steps that depend on these ask more of them. */
function lateRules({ grant }: Written, checks: readonly Check[]): readonly number[] {
  return grant.rules.length > 1 && checks.some(({ late }) => late) ? [...grant.rules.keys()] : [];
}

/** The rows that a rule has matched, in the order of their positions, as the text of an array. */
function matchesOf(match: string, position: string): string {
  return `pg_catalog.array_agg(${match} ORDER BY ${position})::pg_catalog.text`;
}

interface LockedRows {
  readonly descriptor: Pick<CollectionDescriptor, 'unlockable'>;
  /** Selected columns of the rows and of the tables joined with them. */
  readonly selected: string;
  readonly from: string;
  /** A condition; `TRUE` for none. */
  readonly rows: string;
  readonly alias: string;
  /** Expressions of the key, in the order of its fields. */
  readonly keys: readonly string[];
  readonly lock: RowLock;
}

/**
 * A query for rows that locks them in the order of their keys, and gives them in that order.
 *
 * Stored rows, locked in the order of their keys, regardless of payload order. Requests that want the same rows then
 * wait for each other instead of deadlocking.
 */
export function selectLocked(
  { input }: Pick<SqlDialect, 'input'>,
  { descriptor, selected, from, rows, alias, keys, lock }: LockedRows,
): string {
  // Rows are sorted first and locked when they pass, so no plan changes the order.
  const locks = descriptor.unlockable ? '' : input.lock(lock, alias);
  return `SELECT ${selected} FROM ${from}${where(rows)} ORDER BY ${keys.join(', ')}${locks}`;
}

/** The lock that an UPDATE of these fields, by their names, takes. */
export function lockOfUpdate({ constraints = [] }: CollectionDescriptor, fields: readonly string[]): RowLock {
  const unique = constraints.filter(({ type }) => type === 'unique').flatMap((constraint) => constraint.fields);
  return fields.some((name) => unique.includes(name)) ? 'UPDATE' : 'NO KEY UPDATE';
}
