/** Small statements about stored rows that a tree asks before it writes: each answers one row of texts. */

import { arrayLiteral } from '../../contract/index.ts';
import type { RowSink } from '../../database/database.ts';
import { readRow, type TextRow } from '../../database/protocol/texts.ts';
import { bind } from '../../query/planner.ts';
import { createStatement, type StatementBuilder } from '../../sql/statement.ts';
import { nameStatement } from '../statement.ts';
import type { Running } from '../step.ts';

/** A question while it is printed. */
export interface Question {
  readonly statement: StatementBuilder;
  /** A placeholder for an array of values. */
  array(values: readonly (string | null)[], native: string): string;
  /** A placeholder for one value. */
  value(value: string, native: string): string;
  readonly values: readonly string[];
}

/** Starts a question. */
export function startQuestion(): Question {
  const statement = createStatement(new Map());
  const values: string[] = [];
  const value = (text: string, native: string): string =>
    statement.parameter({ kind: 'value', index: values.push(text) - 1 }, native);
  return { statement, values, value, array: (list, native) => value(arrayLiteral(list), `${native}[]`) };
}

/** A table of input: its columns with their values, numbered from 1 by `n`. */
export function inputRows(
  question: Question,
  columns: readonly { readonly name: string; readonly native: string; readonly values: readonly (string | null)[] }[],
  alias: string,
): string {
  const arrays = columns.map(({ values, native }) => `pg_catalog.unnest(${question.array(values, native)})`);
  const names = [...columns.map(({ name }) => name), 'n'];
  return `ROWS FROM (${arrays.join(', ')}) WITH ORDINALITY AS ${alias}(${names.join(', ')})`;
}

/** Asks: the texts of the one row that the statement answers. */
export async function ask(
  { transaction, caller, gate }: Running,
  question: Question,
  printed: string,
): Promise<TextRow> {
  const { text, binders } = question.statement.finish(printed);
  gate(text);
  let row: TextRow = [];
  const sink: RowSink = {
    row: (buffer, offset, length) => {
      row = readRow(buffer, offset, offset + length);
    },
  };
  await transaction.run(nameStatement(text), bind(binders, question.values, caller), sink);
  return row;
}

/** Elements of an array as PostgreSQL prints one of a single dimension; none for null. */
export function readElements(text: string | null | undefined): readonly (string | null)[] {
  if (text === null || text === undefined || text === '{}') return [];
  const elements: (string | null)[] = [];
  const pattern = /"((?:[^"\\]|\\.)*)"|([^",{}]+)/g;
  for (const [, quoted, plain] of text.slice(1, -1).matchAll(pattern)) {
    if (quoted !== undefined) elements.push(quoted.replace(/\\(.)/gs, '$1'));
    else elements.push(plain === 'NULL' ? null : (plain ?? null));
  }
  return elements;
}

/** Texts, one per row and column, from one array per column. */
export function readRows(arrays: readonly (string | null | undefined)[]): readonly (readonly string[])[] {
  const columns = arrays.map(readElements);
  return (columns[0] ?? []).map((_, row) => columns.map((column) => column[row] ?? ''));
}

/** Places from 0, of an array of places from 1. */
export function readPlaces(text: string | null | undefined): readonly number[] {
  return readElements(text).map((place) => Number(place) - 1);
}
