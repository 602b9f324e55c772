/** Changes of several stored items from arrays of keys, or of one where several rules have to be told apart. */
import { allOf, anyOf, sqlTrue, transactionNumber, where } from '../../dialects/fragment.ts';
import type { RowLock } from '../../dialects/index.ts';
import type { Check, CheckedRow, Written } from '../checks/check.ts';
import { checksOf, printAllowed, requirementsOf } from '../checks/checks.ts';
import { ruleMatches } from '../checks/presets.ts';
import { type Assigned, assignEach, assignments, assignShared, type Stored } from './assigned.ts';
import type { InputColumn } from './inputs.ts';
import { lockOfUpdate, selectLocked } from './locked-rows.ts';
import { createReturning, type Returned, returnedColumns } from './returned.ts';
import {
  type Drafting,
  finishWrite,
  inputTable,
  keyColumns,
  keyInputs,
  keysEqual,
  manyAnswers,
  presenceInputs,
  rowColumns,
  ruleRow,
  singleAnswers,
  startWrite,
  type WriteStatement,
} from './statement.ts';

/** An UPDATE with its tables. */
interface Update {
  readonly alias: string;
  /** The input, as the table `i`. */
  readonly source: string;
  /** Which stored row belongs to which input. */
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
  if (update.assigned.length > 0) return finishUpdate(drafting, update, returned);
  const { table } = written.writable.collection.descriptor;
  const from = `${update.source}, ${table} AS ${update.alias}`;
  const text = `SELECT NULL, pg_catalog.count(*)::pg_catalog.text FROM ${from}${where(update.rows)}`;
  return finishWrite(drafting, text, {});
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
  const matched = batch ? lateRules(all) : [];
  const result =
    returned === undefined
      ? []
      : [...singleAnswers(checks, judged), ...returnedColumns(drafting, returned, returning.column)];
  const aggregated = () => [
    'pg_catalog.count(*)::pg_catalog.text',
    ...matched.map((rule) => `pg_catalog.array_agg(${match(rule)} ORDER BY ${position})::pg_catalog.text`),
    ...manyAnswers(drafting, checks, judged, position),
  ];
  const selected = [transactionNumber, ...(returned === undefined ? aggregated() : result)];
  const { table } = written.writable.collection.descriptor;
  const update = `UPDATE ${table} AS ${alias} SET ${assignments(assigned)} FROM ${source}${where(rows)}`;
  const order = returned === undefined ? '' : ` ORDER BY ${position}`;
  const text = `WITH w AS (${update} RETURNING ${returning.list()}) SELECT ${selected.join(', ')} FROM w${order}`;
  return finishWrite(drafting, text, { matched, judgements: checks.map(({ permissionCheck }) => permissionCheck) });
}

/** Rules whose match on the stored rows is asked for when everything is written. */
function lateRules(checks: readonly Check[]): readonly number[] {
  return [...new Set(checks.filter(({ late }) => late).flatMap(({ rules }) => rules))];
}
