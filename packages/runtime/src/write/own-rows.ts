/** Statements of our own in a transaction, whose rows are wanted as texts. All their columns are cast to text. */
import type { Parameter, Transaction } from '../database/database.ts';
import { readRow, type TextRow } from '../database/protocol/texts.ts';
import { nameStatement } from './statement.ts';

/** Runs a statement and gives its rows. One that writes also selects `transactionNumber`, for `identify`. */
export async function allRows(
  transaction: Transaction,
  text: string,
  values: readonly Parameter[],
): Promise<readonly TextRow[]> {
  const rows: TextRow[] = [];
  await transaction.run(nameStatement(text), values, {
    row: (buffer, offset, length) => {
      rows.push(readRow(buffer, offset, offset + length));
    },
  });
  return rows;
}

/** The same where there is at most one row; undefined when there is none. */
export async function firstRow(
  transaction: Transaction,
  text: string,
  values: readonly Parameter[],
): Promise<TextRow | undefined> {
  const [row] = await allRows(transaction, text, values);
  return row;
}
