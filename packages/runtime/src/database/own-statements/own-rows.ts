/** Statements of our own in a transaction, whose rows are wanted as texts. All their columns are cast to text. */
import { createHash } from 'node:crypto';
import type { Database, Parameter, Statement, Transaction } from '../database.ts';
import { type OwnSql, readRow, runScript, type TextRow } from './script.ts';

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

/** Runs one statement as it is. */
export async function statementRows(
  transaction: Transaction,
  statement: Statement,
  values: readonly Parameter[],
): Promise<readonly TextRow[]> {
  const rows: TextRow[] = [];
  await transaction.run(statement, values, {
    row: (buffer, offset, length) => {
      rows.push(readRow(buffer, offset, offset + length));
    },
  });
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

const named = new Map<string, Statement>();
const ownNamed = new Map<string, Statement>();

/** More texts than that are named anew each time. */
const maxNamed = 1_000;

type NamelessStatement = Pick<Statement, 'text' | 'tables' | 'forms' | 'changes'>;

/** A statement of the server itself, under no settings of a caller. */
export function ownStatement(text: string): Statement {
  const cached = ownNamed.get(text);
  if (cached !== undefined) return cached;
  const statement: Statement = { ...nameStatement({ text }), runsAs: 'server' };
  if (ownNamed.size < maxNamed) ownNamed.set(text, statement);
  return statement;
}

/** A statement of a transaction under the name that belongs to its text. */
export function nameStatement({ text, tables, forms, changes }: NamelessStatement): Statement {
  const noted = { ...(tables && { tables }), ...(changes && { changes }) };
  if (forms !== undefined) return { name: '', text, forms, ...noted };
  const cached = named.get(text);
  if (cached !== undefined) return cached;
  const name = `w_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;
  const statement: Statement = { name, text, ...noted };
  if (named.size < maxNamed) named.set(text, statement);
  return statement;
}
