/** Prints the database's plans for the statements of a request. */
import type { Schema } from '@tablewright/introspect/schema';
import type { Parameter } from '@tablewright/runtime';
import type { SentStatement } from '@tablewright/runtime/explain';
import { printTable } from '@tablewright/runtime/language';
import { sources } from '../sources/dialects.ts';
import type { MissingIndex } from '../sources/missing-index.ts';
import type { Source } from '../sources/source.ts';
import type { Progress } from '../terminal/progress.ts';

/** Prints how the database would run a statement, and the indexes that it lacks; with `analyze` the statement runs. */
export async function printPlan(
  { statement, parameters }: SentStatement,
  schema: Schema,
  source: Source,
  analyze: boolean,
  progress: Progress,
): Promise<void> {
  const tables = new Map(schema.tables.map((table) => [`${table.schema}.${table.name}`, table]));
  const { explain, missingIndexes } = await sources[source.family].commands();
  const lines = await explain(source, statement, parameters, analyze);
  const found = await missingIndexes(source, statement, parameters, tables);
  const missing = found.map((index) => ({ ...index, table: printTable(schema.dialect, index.table) }));
  progress.event('plan', { lines, missingIndexes: missing });
  progress.print(`plan     of ${source.label}`);
  for (const line of lines) progress.print(`           ${line}`);
  progress.print(`indexes  ${missing.length === 0 ? 'every condition can use one' : 'none fits'}`);
  for (const index of missing) progress.print(`           ${missingText(index)}`);
}

function missingText({ table, condition, columns }: MissingIndex): string {
  const advice = columns.length === 0 ? '' : `; consider one on (${columns.join(', ')})`;
  return `${table}: ${condition}${advice}`;
}

/** Prints a statement with its parameters. */
export function printStatement(text: string, parameters: readonly Parameter[], progress: Progress): void {
  for (const line of text.split('\n')) progress.print(`           ${line}`);
  for (const [index, value] of parameters.entries()) {
    progress.print(`           $${index + 1} = ${value === null ? 'NULL' : JSON.stringify(value)}`);
  }
}
