/** What planned writes share: their form, their tables of input, and the one row that they answer. */
import { createHash } from 'node:crypto';
import type { FieldDescriptor } from '../contract/index.ts';
import type { Statement } from '../database/database.ts';
import type { Binder } from '../query/plan.ts';
import { keyFields } from '../query/plan-order.ts';
import { cast } from '../sql/cell.ts';
import { sqlTrue } from '../sql/fragment.ts';
import { operandType } from '../sql/operand.ts';
import { type Row, tableRow } from '../sql/row.ts';
import { createStatement, type StatementBuilder } from '../sql/statement.ts';
import type { Check, Judged, Judgement, Written } from './checks.ts';
import { createInputs, type Inputs, type Source } from './inputs.ts';

/**
 * A write, planned: one statement that answers one row of texts — the transaction's number, the number of rows, the key of
 * what was made, which rows each of `matched` matched, and for each judgement the places of the items that fail, from 1.
 */
export interface WritePlan {
  readonly statement: Statement;
  readonly binders: readonly Binder[];
  readonly sources: readonly Source[];
  /** Columns of the key in the answer; 0 where it is known already. */
  readonly keys: number;
  /** Places of rules. */
  readonly matched: readonly number[];
  readonly judgements: readonly Judgement[];
}

/** A statement while it is planned. */
export interface Drafting {
  readonly written: Written;
  readonly statement: StatementBuilder;
  readonly inputs: Inputs;
}

/** Starts a statement. */
export function startWrite(written: Written): Drafting {
  const statement = createStatement(new Map());
  return { written, statement, inputs: createInputs(statement) };
}

/** Ends a statement; what it answers beside the first two columns is told by `answer`. */
export function finishWrite(
  { statement, inputs }: Drafting,
  printed: string,
  answer: Partial<Pick<WritePlan, 'keys' | 'matched' | 'judgements'>>,
): WritePlan {
  const { text, binders } = statement.finish(printed);
  const { keys = 0, matched = [], judgements = [] } = answer;
  return { statement: nameStatement(text), binders, sources: inputs.sources, keys, matched, judgements };
}

const named = new Map<string, Statement>();
/** More texts than that are named anew each time. */
const mostNamed = 1_000;

/** A statement of a transaction under the name that belongs to its text. */
export function nameStatement(text: string): Statement {
  const known = named.get(text);
  if (known !== undefined) return known;
  const name = `w_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;
  if (named.size < mostNamed) named.set(text, { name, text });
  return { name, text };
}

/** Brings the number of the transaction along, by which an unknown end is found out. */
export const transactionNumber = 'pg_catalog.pg_current_xact_id()::pg_catalog.text';

/** The fields of the key of what is written. */
export function keysOf({ writable }: Pick<Written, 'writable'>): readonly FieldDescriptor[] {
  return keyFields(writable.collection.descriptor);
}

/** The key of a row, as its parameters are compared with it. */
export function keyColumns(written: Written, column: (quoted: string) => string): readonly string[] {
  return keysOf(written).map((field) => cast(column(field.column), field.comparison));
}

/** One array of an input table, and what its elements are called. */
export interface InputColumn {
  readonly name: string;
  readonly array: string;
}

/** The arrays of the keys. */
export function keyInputs({ written, inputs }: Drafting): readonly InputColumn[] {
  return keysOf(written).map((field, part) => ({
    name: `k${part}`,
    array: inputs.take({ kind: 'key', part }, `${operandType(field).native}[]`),
  }));
}

/** The arrays that tell which items have a field, of columns by their places. */
export function presenceInputs({ inputs }: Drafting, columns: readonly number[]): readonly InputColumn[] {
  return columns.map((column) => ({
    name: `p${column}`,
    array: inputs.take({ kind: 'present', column }, 'pg_catalog.bool[]'),
  }));
}

/** A table of input with an alias: one row per item, numbered from 1 by `n`. */
export function inputTable({ inputs }: Drafting, columns: readonly InputColumn[], alias: string): string {
  const counted = `pg_catalog.generate_series(1, ${inputs.take({ kind: 'count' }, 'pg_catalog.int4')})`;
  const arrays = columns.map(({ array }) => `pg_catalog.unnest(${array})`);
  const names = columns.length === 0 ? ['c'] : columns.map(({ name }) => name);
  const sources = arrays.length === 0 ? counted : arrays.join(', ');
  return `ROWS FROM (${sources}) WITH ORDINALITY AS ${alias}(${[...names, 'n'].join(', ')})`;
}

/** The condition that two keys are equal. */
export function keysEqual(columns: readonly string[], others: readonly string[]): string {
  return columns.map((column, index) => `${column} = ${others[index]}`).join(' AND ');
}

/** A row of the written table in the scope of rules. */
export function ruleRow({ written, statement }: Drafting, column: (quoted: string) => string): Row {
  const { scope, writable } = written;
  return { ...tableRow(statement, scope.open, writable.collection, ''), column };
}

/** Columns of the checks' answers: where one row was written, its place is 1. */
export function singleAnswers(checks: readonly Check[], judged: Judged): readonly string[] {
  return checks.map((check) => `CASE WHEN ${check.fails(judged)} THEN '{1}' END`);
}

/** Columns of the checks' answers over many rows, whose places are `n`. */
export function manyAnswers(checks: readonly Check[], judged: Judged, n: string): readonly string[] {
  return checks.map(
    (check) => `(pg_catalog.array_agg(${n} ORDER BY ${n}) FILTER (WHERE ${check.fails(judged)}))::pg_catalog.text`,
  );
}

/** What a single item has, it has. */
export const present = (): string => sqlTrue;
