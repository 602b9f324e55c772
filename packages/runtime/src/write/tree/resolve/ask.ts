/** Small statements about stored rows that a tree asks before it writes: each answers one row of texts. */

import type { RowSink } from '../../../database/database.ts';
import { nameStatement } from '../../../database/own-statements/name-statement.ts';
import { readRow, type TextRow } from '../../../database/own-statements/texts.ts';
import { runAs } from '../../../database/row-security/row-context.ts';
import type { SqlDialect } from '../../../dialects/index.ts';
import { arrayLiteral } from '../../../language/index.ts';
import { bind } from '../../../query/planner.ts';
import type { StatementBuilder } from '../../../sql/row.ts';
import { createStatement } from '../../../sql/statement.ts';
import type { Running } from '../../execute/running.ts';

/** A question while it is printed. */
export interface Question {
  readonly statement: StatementBuilder;
  /** Adds a list to the values, and gives its position. */
  list(elements: readonly (string | null)[]): number;
  readonly values: readonly string[];
}

/** Starts a question. */
export function startQuestion(dialect: SqlDialect): Question {
  const statement = createStatement(new Map(), dialect);
  const values: string[] = [];
  return { statement, values, list: (elements) => values.push(arrayLiteral(elements)) - 1 };
}

/** A column of input with its values; `stored` where these are not compared with what is stored. */
export interface InputValues {
  readonly name: string;
  readonly native: string;
  readonly values: readonly (string | null)[];
  readonly stored?: true;
}

/** A table of input: its columns with their values, numbered from 1 by `n`. */
export function inputRows(question: Question, columns: readonly InputValues[], alias: string): string {
  const { statement } = question;
  const listed = columns.map(({ values, ...column }) => ({ ...column, list: question.list(values) }));
  return statement.dialect.input.table(statement.parameter, { columns: listed, alias, numbered: true, as: true });
}

/** Asks: the texts of the one row that the statement answers. */
export async function ask(
  { transaction, caller, driftGuard }: Running,
  question: Question,
  printed: string,
): Promise<TextRow> {
  const finished = question.statement.finish(printed);
  driftGuard(finished);
  let row: TextRow = [];
  const sink: RowSink = {
    row: (buffer, offset, length) => {
      row = readRow(buffer, offset, offset + length);
    },
  };
  const statement = runAs(nameStatement(finished), caller);
  await transaction.run(statement, bind(finished.binders, question.values, caller), sink);
  return row;
}
