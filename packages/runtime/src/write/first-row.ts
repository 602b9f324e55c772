/** Statements of our own in a transaction, of whose answer the first row is wanted as texts. */
import type { Parameter, Transaction } from '../database/database.ts';
import { readRow, type TextRow } from '../database/protocol/texts.ts';
import { nameStatement } from './statement.ts';

/** Runs a statement, all of whose columns are texts, and gives its first row; undefined when there is none. */
export async function firstRow(
  transaction: Transaction,
  text: string,
  values: readonly Parameter[],
): Promise<TextRow | undefined> {
  let row: TextRow | undefined;
  await transaction.run(nameStatement(text), values, {
    row: (buffer, offset, length) => {
      row ??= readRow(buffer, offset, offset + length);
    },
  });
  return row;
}
