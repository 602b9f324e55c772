/** Stored values of items that a tree has written or named, by their keys. */
import { nameStatement, statementRows, type TextRow } from '../../../database/own-statements.ts';
import { runAs } from '../../../database/row-context.ts';
import { keyColumn, sqlFalse } from '../../../dialects/fragment.ts';
import type { SqlDialect } from '../../../dialects/index.ts';
import { failedValidation, type Place } from '../../../json/problems.ts';
import { arrayLiteral } from '../../../language/index.ts';
import { bind } from '../../../query/planner.ts';
import { readPlaces, readRows } from '../../../sql/array-text.ts';
import { fieldOfColumn } from '../../../sql/cell.ts';
import { listedForm } from '../../../sql/operand.ts';
import { readable } from '../../../sql/readable.ts';
import { type StatementBuilder, tableRow } from '../../../sql/row.ts';
import { type CollectionScope, keyFields } from '../../../sql/scope.ts';
import { createStatement } from '../../../sql/statement.ts';
import { countedScope, type WriteScope } from '../../access/scope.ts';
import type { Running } from '../../execute/running.ts';
import type { InputColumn } from '../../plan/inputs.ts';
import type { KeyTexts } from '../parse/group.ts';

/** Texts of columns of each item, none where one is null; where all belong to the key, nothing is asked. */
export async function columnTexts(
  running: Running,
  collection: CollectionScope,
  keys: readonly KeyTexts[],
  columns: readonly string[],
): Promise<readonly KeyTexts[]> {
  const fields = keyFields(collection.descriptor);
  const parts = columns.map((column) => fields.findIndex((field) => field.column === column));
  if (parts.every((part) => part >= 0)) return keys.map((key) => parts.map((part) => key[part] ?? ''));
  const question = startQuestion(running.dialect);
  const joined = keyJoin(question, collection, keys, 't');
  const { input } = running.dialect;
  const texts = [
    input.collectedArray({ value: 'i.n', settled: 'i.n' }),
    ...columns.map((column) => {
      const field = fieldOfColumn(collection.descriptor.fields, column);
      return input.collectedArray({ value: input.text(columnText(collection, column, 't')), settled: 'i.n', field });
    }),
  ];
  const whole = columns.map((column) => `t.${column} IS NOT NULL`).join(' AND ');
  const row = await ask(running, question, `SELECT ${texts.join(', ')} FROM ${joined} WHERE ${whole}`);
  const places = readPlaces(row[0]);
  const rows = readRows(row.slice(1));
  const found = new Map(places.map((position, index) => [position, rows[index] ?? []]));
  return keys.map((_, index) => found.get(index) ?? []);
}

/** Throws FAILED_VALIDATION for an item that is to be linked by a value which it lacks. */
export function checkHeld(texts: KeyTexts | undefined, location: Place): void {
  if (texts === undefined || texts.length === 0) {
    throw failedValidation(location, null, 'required', 'lacks the value by which it is linked');
  }
}

/** A collection's table joined with keys, which are numbered by `i.n`. */
function keyJoin(question: Question, collection: CollectionScope, keys: readonly KeyTexts[], alias: string): string {
  const input = inputRows(question, keyInput(collection, keys), 'i');
  const { dialect, table } = question.statement;
  return `${input}${dialect.input.join}${table(collection.descriptor.table)} AS ${alias} ON ${keyEqual(dialect, collection, alias, 'i')}`;
}

/** Columns of input that hold keys: `k0`, `k1`. */
export function keyInput(collection: CollectionScope, keys: readonly KeyTexts[]): Parameters<typeof inputRows>[1] {
  return keyFields(collection.descriptor).map((field, part) => ({
    name: `k${part}`,
    ...listedForm(field),
    values: keys.map((key) => key[part] ?? null),
  }));
}

/** SQL condition that a row has the key of a row of input. */
export function keyEqual(dialect: SqlDialect, { descriptor }: CollectionScope, alias: string, input: string): string {
  return keyFields(descriptor)
    .map((field, part) => dialect.input.equal(`${alias}.${field.column}`, `${input}.k${part}`, field))
    .join(' AND ');
}

/** Keys that the statement `platform_gone` has as `k0`, `k1`, each collected. */
export function goneKeys({ input }: SqlDialect, { descriptor }: CollectionScope): readonly string[] {
  const fields = keyFields(descriptor);
  const settled = fields.map((_, part) => `k${part}`).join(', ');
  return fields.map(
    (field, part) => `(SELECT ${input.collectedArray({ value: `k${part}`, settled, field })} FROM platform_gone)`,
  );
}

/** Without read permission on the collection every row counts: there is no hidden part of it to leave alone. */
export function visibleRow({ statement }: Question, scope: WriteScope, name: string, alias: string): string {
  const counted = countedScope(scope, name);
  const collection = counted.collections.get(name);
  return collection === undefined ? sqlFalse : `(${readable(tableRow(statement, counted, collection, alias))})`;
}

/** A column as its values are compared. */
export function columnText({ descriptor }: CollectionScope, column: string, alias: string): string {
  const field = fieldOfColumn(descriptor.fields, column);
  return field === undefined ? `${alias}.${column}` : keyColumn(`${alias}.${column}`, field);
}

/** Columns of input that hold values of columns: `f0`, `f1`. */
export function columnInput(
  collection: CollectionScope,
  columns: readonly string[],
  rows: readonly KeyTexts[],
  prefix: string,
): Parameters<typeof inputRows>[1] {
  return columns.map((column, part) => {
    const field = fieldOfColumn(collection.descriptor.fields, column);
    const form = field === undefined ? { native: 'pg_catalog.text' } : listedForm(field);
    return { name: `${prefix}${part}`, ...form, values: rows.map((row) => row[part] ?? null) };
  });
}

/** SQL condition that columns of a row have the values of a row of input. */
export function columnsEqual(
  dialect: SqlDialect,
  collection: CollectionScope,
  columns: readonly string[],
  alias: string,
  input: string,
  prefix: string,
): string {
  return columns
    .map((column, part) => {
      const field = fieldOfColumn(collection.descriptor.fields, column);
      return dialect.input.equal(`${alias}.${column}`, `${input}.${prefix}${part}`, field);
    })
    .join(' AND ');
}

export interface Question {
  readonly statement: StatementBuilder;
  /** Adds a list to the values, and gives its position. */
  list(elements: readonly (string | null)[]): number;
  readonly values: readonly string[];
}

export function startQuestion(dialect: SqlDialect): Question {
  const statement = createStatement(new Map(), dialect);
  const values: string[] = [];
  return { statement, values, list: (elements) => values.push(arrayLiteral(elements)) - 1 };
}

/** A column of input with its values; `stored` where these are not compared with what is stored. */
interface InputValues extends Pick<InputColumn, 'name' | 'native' | 'cast'> {
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
  const statement = runAs(nameStatement(finished), caller);
  const [row = []] = await statementRows(transaction, statement, bind(finished.binders, question.values, caller));
  return row;
}
