/**
 * Statements of our own: one text, or a script of several, run in one transaction. Scripts are for servers that write
 * one table at a time and do not return written rows.
 */

import { createHash, randomUUID } from 'node:crypto';
import { int32 } from '../json/bytes.ts';
import { createBoundedCache, plansKept } from '../language/values/bounded-cache.ts';
import { normalEmail, normalEmails } from '../language/values/lowercase.ts';
import { findOrCreate } from '../language/values/once.ts';
import type { CommitProof, Database, Parameter, ParameterForm, RowSink, Statement, Transaction } from './database.ts';

/** A statement of our own: a text or a script, as its dialect has it. */
export type OwnSql = string | Script;

/** Steps that are run one after the other. */
export interface Script {
  readonly steps: readonly ScriptStep[];
}

/**
 * One step. In its text `$1` is a parameter and `$name` a value that an earlier step has taken; `[]` after one makes a
 * JSON array of an array literal, and `::uuid` is a type for dialects whose parameters have one. `:integer` is a number
 * for LIMIT, `:email` the comparison form of an address. `:emails` is the same of a JSON array of
 * addresses: objects of `place`, from 0, and `normal`, each of which stands there once.
 */
type ScriptStep =
  /** Runs a statement. `needs`: where it finds no row the script ends, without rows. `takes` names columns of its first row. */
  | {
      readonly kind: 'run' | 'need' | 'give';
      readonly statement: Statement;
      readonly sources: readonly Source[];
      readonly takes: readonly string[];
    }
  /** Finds a row that only this transaction has made (`Transaction.witness`). */
  | {
      readonly kind: 'witness';
      readonly statement: Statement;
      readonly sources: readonly Source[];
      readonly isNumbered: boolean;
    }
  /** Makes a key. */
  | { readonly kind: 'make'; readonly name: string }
  /** The row that the script answers: literals, or parameters and names with `$`. */
  | { readonly kind: 'answer'; readonly row: readonly Source[] }
  /** Runs steps for each element of a list parameter, which they know as `$each`. */
  | { readonly kind: 'each'; readonly list: number; readonly steps: readonly ScriptStep[] };

type Prepare = 'plain' | 'email' | 'emails';

type Source =
  | { readonly parameter: number; readonly prepare: Prepare }
  | { readonly name: string }
  | { readonly literal: string };

/** A script of steps. Without `give` and `answer` it answers one row, `1`, which stands for the number of the transaction. */
export function createScript(...steps: readonly (ScriptStep | string)[]): Script {
  return { steps: steps.map((step) => (typeof step === 'string' ? run(step) : step)) };
}

/** A step that writes, or takes something along. A write has three columns: `1`, the rows that it found, the key that it made. */
export function run(text: string, takes: readonly string[] = []): ScriptStep {
  return { kind: 'run', ...compile(text), takes };
}

/** A step that must find a row. */
export function requireRow(text: string, takes: readonly string[] = []): ScriptStep {
  return { kind: 'need', ...compile(text), takes };
}

/** The step whose rows the script answers. */
export function returnRows(text: string): ScriptStep {
  return { kind: 'give', ...compile(text), takes: [] };
}

/** Proof of the transaction: a SELECT (a lock is added) of a row made by it alone. `isNumbered`: by the server. */
export function proveCommit(text: string, isNumbered = false): ScriptStep {
  return { kind: 'witness', isNumbered, ...compile(`${text} LOCK IN SHARE MODE`) };
}

/** A new key for `$name`. */
export function generateKey(name: string): ScriptStep {
  return { kind: 'make', name };
}

/** The one row that a script answers. */
export function returnRow(...row: readonly string[]): ScriptStep {
  return {
    kind: 'answer',
    row: row.map((text) => (text.startsWith('$') ? sourceOf(text.slice(1)) : { literal: text })),
  };
}

/** Steps for each element of the list that is parameter `list`, counted from 1. */
export function each(list: number, ...steps: readonly (ScriptStep | string)[]): ScriptStep {
  return { kind: 'each', list: list - 1, steps: createScript(...steps).steps };
}

const marks = /\$([1-9]\d*|[a-z]\w*)(::[\w.]+|\[\]|:\w+)?/g;

function compile(text: string): { readonly statement: Statement; readonly sources: readonly Source[] } {
  const sources: Source[] = [];
  const forms: ParameterForm[] = [];
  const printed = text.replaceAll(marks, (_, name: string, form = '') => {
    sources.push(sourceOf(name, form === ':email' || form === ':emails' ? form.slice(1) : 'plain'));
    forms.push(form === '[]' ? 'text[]' : form === ':integer' ? 'integer' : 'text');
    return '?';
  });
  return { statement: { name: '', text: printed, forms }, sources };
}

function sourceOf(name: string, prepare: Prepare = 'plain'): Source {
  return /^\d/.test(name) ? { parameter: Number(name) - 1, prepare } : { name };
}

type RunStep = (statement: Statement, parameters: readonly Parameter[]) => Promise<readonly TextRow[]>;

/** Runs a script. */
export async function runScript(
  { steps }: Script,
  values: readonly Parameter[],
  runStep: RunStep,
  report: (commitProof: CommitProof) => void = () => {},
): Promise<readonly TextRow[]> {
  return (await runSteps(steps, values, new Map(), { runStep, report })) ?? [];
}

/** Runs steps, and takes their proofs. */
interface Runner {
  readonly runStep: RunStep;
  readonly report: (commitProof: CommitProof) => void;
}

/** The rows of the answer; undefined where a step found nothing that it needs. */
async function runSteps(
  steps: readonly ScriptStep[],
  values: readonly Parameter[],
  taken: Map<string, Parameter>,
  runner: Runner,
): Promise<readonly TextRow[] | undefined> {
  let rows: readonly TextRow[] = [['1']];
  const valueFrom = (source: Source): Parameter => read(source, values, taken);
  for (const step of steps) {
    if (step.kind === 'make') taken.set(step.name, randomUUID());
    else if (step.kind === 'answer') rows = [step.row.map(valueFrom)];
    else if (step.kind === 'witness')
      runner.report({
        statement: step.statement,
        parameters: step.sources.map(valueFrom),
        isNumbered: step.isNumbered,
      });
    else if (step.kind === 'each') {
      for (const element of elementsOf(values[step.list] ?? '{}')) {
        await runSteps(step.steps, values, new Map([...taken, ['each', element]]), runner);
      }
    } else {
      const found = await runner.runStep(step.statement, step.sources.map(valueFrom));
      const [first] = found;
      if (step.kind === 'give') rows = found;
      if (step.kind === 'need' && (first === undefined || isUnfound(step, first))) return undefined;
      for (const [index, name] of step.takes.entries()) taken.set(name, first?.[index] ?? null);
    }
  }
  return rows;
}

/** True if a write found no row. */
function isUnfound({ statement }: Extract<ScriptStep, { kind: 'run' | 'need' | 'give' }>, row: TextRow): boolean {
  return !/^\s*(?:SELECT|WITH)\b/.test(statement.text) && row[1] === '0';
}

function read(source: Source, values: readonly Parameter[], taken: ReadonlyMap<string, Parameter>): Parameter {
  if ('literal' in source) return source.literal;
  if ('name' in source) return taken.get(source.name) ?? null;
  const value = values[source.parameter] ?? null;
  if (value === null || source.prepare === 'plain') return value;
  return source.prepare === 'email' ? normalEmail(value) : normalEmails(value);
}

/** The elements of an array literal of keys, none of which needs quotes. */
function elementsOf(literal: string): readonly string[] {
  return literal === '{}'
    ? []
    : literal
        .slice(1, -1)
        .split(',')
        .map((element) => element.replaceAll('"', ''));
}

/** One row with its columns as texts; null where a column is null. */
export type TextRow = readonly (string | null)[];

/** Reads a row whose columns all arrive as text; see `RowSink.row` for the range from `start` to `end`. */
export function readRow(buffer: Buffer, start: number, end: number): TextRow {
  const columns: (string | null)[] = [];
  for (let offset = start; offset < end; ) {
    const size = int32(buffer, offset);
    columns.push(size < 0 ? null : buffer.toString('utf8', offset + 4, offset + 4 + size));
    offset += 4 + Math.max(size, 0);
  }
  return columns;
}

/** Runs a statement and gives its rows. One that writes also selects `transactionNumber`, for `identify`. */
export function allRows(
  transaction: Transaction,
  sql: OwnSql,
  values: readonly Parameter[],
): Promise<readonly TextRow[]> {
  if (typeof sql === 'string') return statementRows(transaction, ownStatement(sql), values);
  return runScript(
    sql,
    values,
    (statement, parameters) => statementRows(transaction, statement, parameters),
    (commitProof) => transaction.proof?.(commitProof),
  );
}

export function statementRows(
  transaction: Transaction,
  statement: Statement,
  values: readonly Parameter[],
): Promise<readonly TextRow[]> {
  return collectRows((sink) => transaction.run(statement, values, sink));
}

/** The rows that a statement hands to its sink, as texts. */
export async function collectRows(ask: (sink: Pick<RowSink, 'row'>) => Promise<void>): Promise<readonly TextRow[]> {
  const rows: TextRow[] = [];
  await ask({ row: (buffer, offset, length) => void rows.push(readRow(buffer, offset, offset + length)) });
  return rows;
}

/** The same where there is at most one row; undefined when there is none. */
export async function firstRow(
  transaction: Transaction,
  sql: OwnSql,
  values: readonly Parameter[],
): Promise<TextRow | undefined> {
  const [row] = await allRows(transaction, sql, values);
  return row;
}

/** Runs a statement that writes; returns the columns after the number of the transaction, undefined without a row. */
export async function identifiedRow(
  transaction: Transaction,
  sql: OwnSql,
  values: readonly Parameter[],
): Promise<TextRow | undefined> {
  const row = await firstRow(transaction, sql, values);
  if (row === undefined) return undefined;
  const [number, ...columns] = row;
  if (number) transaction.identify(number);
  return columns;
}

/** Makes what removes old rows within the transactions of others, once in so many milliseconds. */
export function createPurge(sql: OwnSql, everyMs: number): (transaction: Transaction) => Promise<void> {
  let swept = Number.NEGATIVE_INFINITY;
  return async (transaction) => {
    if (performance.now() - swept < everyMs) return;
    swept = performance.now();
    await firstRow(transaction, sql, []);
  };
}

/** Runs a statement that only reads, in no transaction. */
export function ask(
  database: Pick<Database, 'query'>,
  sql: OwnSql,
  values: readonly Parameter[],
): Promise<readonly TextRow[]> {
  if (typeof sql === 'string') return database.query(sql, values);
  return runScript(sql, values, ({ text }, parameters) => database.query(text, parameters));
}

/** Runs a statement alone; returns the columns after the number of the transaction, undefined if there is no row. */
export function runAlone(
  database: Pick<Database, 'transaction'>,
  sql: OwnSql,
  values: readonly string[],
): Promise<readonly (string | null)[] | undefined> {
  return database.transaction(async (transaction) => {
    const [number = null, ...rest] = (await firstRow(transaction, sql, values)) ?? [];
    if (number === null) return { value: undefined };
    transaction.identify(number);
    return { value: rest };
  });
}

const named = createBoundedCache<Statement>(plansKept);
const ownNamed = createBoundedCache<Statement>(plansKept);

type NamelessStatement = Pick<Statement, 'text' | 'tables' | 'forms' | 'changes'>;

/** A statement of the server itself, under no settings of a caller. */
export function ownStatement(text: string): Statement {
  return findOrCreate(ownNamed, text, () => ({ ...nameStatement({ text }), runsAs: 'server' }));
}

/** A statement of a transaction under the name that belongs to its text. */
export function nameStatement({ text, tables, forms, changes }: NamelessStatement): Statement {
  const noted = { ...(tables && { tables }), ...(changes && { changes }) };
  if (forms !== undefined) return { name: '', text, forms, ...noted };
  const nameOf = (): string => `w_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;
  return findOrCreate(named, text, () => ({ name: nameOf(), text, ...noted }));
}
