/** Common parts of planned writes: their form, their input tables, and the one row that they return. */

import type { Statement, TableChange } from '../../database/database.ts';
import { nameStatement } from '../../database/own-statements.ts';
import type { Binder } from '../../database/parameter-forms.ts';
import { keyColumn, sqlTrue } from '../../dialects/fragment.ts';
import type { Condition, FieldDescriptor } from '../../language/index.ts';
import { findOrCreate } from '../../language/values/once.ts';
import { type AnswerWriter, createAnswerWriter } from '../../query/answer.ts';
import type { ReadPlan, SelectedItems } from '../../query/plan/plan.ts';
import { conditionsOf, ownColumns, printOwn } from '../../query/plan/plan-returned.ts';
import { listedForm } from '../../sql/operand.ts';
import { columnsOf, hasLateValues, type Row, type StatementBuilder, tableRow } from '../../sql/row.ts';
import { keyFields } from '../../sql/scope.ts';
import { createStatement } from '../../sql/statement.ts';
import type { WritableCollection, WriteScope } from '../access/scope.ts';
import { type Check, type CheckedRow, isLate, type PermissionCheck, type Written } from '../checks/check.ts';
import { createInputs, type InputColumn, type Inputs, type Source } from './inputs.ts';

/**
 * A write, planned: one statement that answers one row of texts. These are the transaction's number, the number of
 * rows, the key of the new item, and the rows that each of `matched` matched. For each permission check the positions
 * of the items that fail follow, from 1.
 */
export interface WriteStatement {
  readonly statement: Statement;
  readonly binders: readonly Binder[];
  readonly sources: readonly Source[];
  /** Columns of the key in the answer; 0 where it is known already. */
  readonly keys: number;
  /** Places of rules. */
  readonly matched: readonly number[];
  readonly judgements: readonly PermissionCheck[];
  /** For an INSERT without that row: how the keys of the new items are known. */
  readonly made?: MadeKeys;
  /** For an INSERT: the query that runs first for preset values, and their positions among generated ones. */
  readonly ahead?: { readonly plan: WriteStatement; readonly fields: readonly number[] };
}

/** `returned`: it answers the texts of the key of each item. `told`: they are known by the parts of a key. */
export type MadeKeys =
  | { readonly kind: 'returned' }
  | { readonly kind: 'computed'; readonly parts: readonly KeyPart[] };

/**
 * Place of a part of the keys of new items. It is a column of the batch, or the values that were drawn for a field.
 * Where an item has none there, it is the constant that the database fills in. Else it is a number that the server
 * generates and tells, which it does for one item at a time.
 */
export interface KeyPart {
  readonly column?: number;
  readonly drawn?: number;
  readonly constant?: string;
}

/** A statement while it is planned. */
export interface Drafting {
  readonly written: Written;
  readonly statement: StatementBuilder;
  readonly inputs: Inputs;
}

export function startWrite(written: Written): Drafting {
  const statement = createStatement(new Map(), written.scope.open.dialect);
  statement.table(written.writable.collection.descriptor.table);
  return { written, statement, inputs: createInputs(statement) };
}

/** Ends a statement; `result` describes its columns after the first two, and the change where it is no usual one. */
export function finishWrite(
  { written, statement, inputs }: Drafting,
  printed: string,
  result: Partial<Pick<WriteStatement, 'keys' | 'matched' | 'judgements'> & Pick<TableChange, 'kind'>>,
): WriteStatement {
  const { table } = written.writable.collection.descriptor;
  if (!printed.startsWith('SELECT')) statement.change(table, result.kind ?? changeOf(written));
  const finished = statement.finish(printed);
  const { binders } = finished;
  const { keys = 0, matched = [], judgements = [] } = result;
  return { statement: nameStatement(finished), binders, sources: inputs.sources, keys, matched, judgements };
}

/** Kind of change that makes or changes rows. */
export function changeOf({ action, columns, writable }: Written): TableChange['kind'] {
  const { key, constraints = [] } = writable.collection.descriptor;
  const keys = [key, ...constraints.flatMap(({ type, fields }) => (type === 'unique' ? [fields] : []))].flat();
  return action === 'update' && columns.some(({ field }) => keys.includes(field.descriptor.name)) ? 'key' : action;
}

export function keysOf({ writable }: Pick<Written, 'writable'>): readonly FieldDescriptor[] {
  return keyFields(writable.collection.descriptor);
}

/** The key of a row, as its parameters are compared with it. */
export function keyColumns(written: Written, column: (quoted: string) => string): readonly string[] {
  return keysOf(written).map((field) => keyColumn(column(field.column), field));
}

export function keyInputs({ written }: Pick<Drafting, 'written'>): readonly InputColumn[] {
  return keysOf(written).map((field, part) => ({
    name: `k${part}`,
    source: { kind: 'key', part },
    ...listedForm(field),
  }));
}

/** Columns of input that tell which items have a field, of columns by their positions. */
export function presenceInputs(columns: readonly number[]): readonly InputColumn[] {
  return columns.map((column) => ({ name: `p${column}`, source: { kind: 'present', column }, native: flagNative }));
}

/** Columns of input that tell which stored rows rules have matched. */
export function matchInputs(rules: readonly number[]): readonly InputColumn[] {
  return rules.map((rule) => ({ name: `m${rule}`, source: { kind: 'matched', rule }, native: flagNative }));
}

const flagNative = 'pg_catalog.bool';

/** A table of input with an alias: one row per item, numbered from 1 by `n`. */
export function inputTable({ statement, inputs }: Drafting, columns: readonly InputColumn[], alias: string): string {
  const listed = columns.map(({ source, ...column }) => ({ ...column, list: inputs.place(source) }));
  const count = inputs.place({ kind: 'count' });
  return statement.dialect.input.table(statement.parameter, {
    columns: listed,
    count,
    alias,
    numbered: true,
    as: true,
  });
}

/** The condition that a row has the key of a row of input. */
export function keysMatch(
  { written, statement }: Drafting,
  column: (quoted: string) => string,
  input: readonly string[],
): string {
  return keysOf(written)
    .map((field, part) => statement.dialect.input.equal(column(field.column), input[part] ?? 'NULL', field))
    .join(' AND ');
}

export function keysEqual(columns: readonly string[], others: readonly string[]): string {
  return columns.map((column, index) => `${column} = ${others[index]}`).join(' AND ');
}

/** Takes quoted columns of the written table under an alias to expressions. */
export function rowColumns({ writable }: Pick<Written, 'writable'>, alias: string): (quoted: string) => string {
  return columnsOf(writable.collection.descriptor, alias);
}

export function ruleRow({ written, statement }: Drafting, column: (quoted: string) => string): Row {
  const { scope, writable } = written;
  // Beside values that are written, columns are texts of the connection.
  return { ...tableRow(statement, scope.open, writable.collection, ''), column, isStored: false };
}

/** Columns of the checks' answers: where one row was written, its position is 1. */
export function singleAnswers(checks: readonly Check[], judged: CheckedRow): readonly string[] {
  return checks.map((check) => `CASE WHEN ${check.fails(judged)} THEN '{1}' END`);
}

/** Columns of the checks' answers over many rows, whose positions are `n`. */
export function manyAnswers(
  { statement }: Drafting,
  checks: readonly Check[],
  judged: CheckedRow,
  n: string,
): readonly string[] {
  const { collectedArray: arrayOf } = statement.dialect.input;
  return checks.map((check) => arrayOf({ value: n, order: n, only: check.fails(judged) }));
}

/** A single item has every field of its batch. */
export const present = (): string => sqlTrue;

/** The read that a write answers itself. */
export interface Returned {
  readonly own: SelectedItems;
  readonly answer: AnswerWriter;
}

/** Returns the part of a planned answer that a write can return; undefined where its row is not enough. */
export function returnedOf(
  plan: ReadPlan | undefined,
  { collection }: WritableCollection,
  scope: WriteScope,
): Returned | undefined {
  const { descriptor } = collection;
  const read = plan && ownColumns(plan);
  if (plan === undefined || read === undefined || hasLateValues(descriptor)) return undefined;
  const written = new Set([descriptor.name]);
  if (conditionsOf(read).some((condition) => isLate(scope.open, collection, condition, written))) return undefined;
  return { own: read, answer: createAnswerWriter(plan) };
}

/** Columns of the answer: true if the caller may read the row, then the values to read. */
export function returnedColumns(
  { statement }: Drafting,
  { own: read }: Returned,
  column: (quoted: string) => string,
): readonly string[] {
  const { visible, expressions } = printOwn(statement, read, column);
  return [`(${visible}) IS TRUE`, ...expressions];
}

/** Starts the list: `column` takes columns of the written table to expressions, `outer` is the alias outside. */
export function createReturning(column: (quoted: string) => string, outer: string) {
  const names = new Map<string, string>();
  const select = (expression: string): string => `${outer}.${findOrCreate(names, expression, () => `r${names.size}`)}`;
  return {
    take: select,
    /** Returns a quoted column of the written row, and gives its name outside. */
    column: (quoted: string): string => select(column(quoted)),
    /** The list after RETURNING; never empty. */
    list: (): string =>
      names.size === 0 ? '1' : [...names].map(([expression, name]) => `${expression} AS ${name}`).join(', '),
  };
}

/** The plans of one step: the write itself, and the permission check that waits until everything is written. */
export interface StepPlans {
  /** Finds the rows that may be changed, and locks them, where the write cannot do so itself. */
  readonly look?: WriteStatement;
  readonly write: WriteStatement;
  /** Checks links by key that have to lead to visible items before the write. */
  readonly linksAhead?: WriteStatement;
  /** The same for links of which items above give a part: checked as soon as these are written. */
  readonly linksBelow?: WriteStatement;
  /** Checks what rules about other rows say before the write, where the write does not do so itself. */
  readonly rulesAhead?: WriteStatement;
  /** Plans the check of rows by rules and links before the write, as far as it can be made then. */
  readonly planFirst?: () => WriteStatement | undefined;
  /** Plans the check of links before anything of the request is written, as far as it can be made then. */
  readonly planLinks?: () => WriteStatement | undefined;
  /** Plans the look for rows that will meet a condition, with the fields that it asks for; undefined where it cannot tell. */
  readonly planMet?: (
    where: Condition,
  ) => { readonly plan: WriteStatement; readonly asks: readonly string[] } | undefined;
  /** Plans the look for stored rows that may be changed so: the database may refuse some before others are missed. */
  readonly planFound?: () => WriteStatement | undefined;
  /** Set where several items are changed. */
  readonly changesMany?: true;
  /** Set where a payload may contradict itself in items below the rows, or takes items from them. */
  readonly checksBelow?: true;
  /** True if a unique key may refuse the rows. */
  readonly mayBeTaken?: boolean;
  /** Checks the written rows, where the write does not do so itself. */
  readonly verify?: WriteStatement;
  /** True if the write takes keys as arrays, but makes one item. Default: false. */
  readonly single?: true;
  /** True if the write takes its keys as arrays. */
  readonly many: boolean;
  readonly permissionCheck: WriteStatement | undefined;
  /** Plans the same check for rows below others that are still to be written: without what it says of these. */
  readonly planEarly?: () => WriteStatement | undefined;
  /** Plans the check of links that wait until everything is written, as the payload states them. */
  readonly planStated?: () => WriteStatement | undefined;
  /** Checks links to rows of other tenants before anything else is written. */
  readonly linkCheck?: WriteStatement;
  /** Builds the answer from the rows of the write; set where the write returns the items itself. */
  readonly answer?: AnswerWriter;
}

/** A step that was planned with the answer of its write; `keyed` tells whether new items have to tell their keys, too. */
export interface PlannedStep {
  readonly written: Written;
  readonly plan: ReadPlan;
  readonly keyed: boolean;
}

/** Completes the plans of a step that answers its items itself. */
export type CompleteStep = (plans: StepPlans, planned: PlannedStep) => StepPlans;
