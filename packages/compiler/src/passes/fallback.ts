import type { Column, Table } from '@tablewright/introspect/schema';
import { dialectFacts } from '@tablewright/runtime/language';
import { quoteLiteral, quoteQualified, splitQualified } from './quote.ts';
import type { SchemaIndex } from './schema-index.ts';

/**
 * SQL of the value that fills a column left out of an INSERT; undefined if that is null. For a view's column, the SQL
 * of the column that it shows.
 * A batch in which only some items have a value names the column for all of them, so that no column is left out.
 */
export function fallbackSql(table: Table, column: Column, index: SchemaIndex): string | undefined {
  const { fill } = column;
  if (fill.kind === 'default') return fill.expression;
  if (fill.kind === 'serial') return nextValue(`${quotedName(fill.sequence)}::pg_catalog.regclass`);
  // Some servers generate a number wherever they are given none, or null.
  if (dialectFacts[index.dialect].numbersNulls) return undefined;
  if (fill.kind === 'identity') {
    const owner = quoteLiteral(quoteQualified(table.schema, table.name));
    return nextValue(`pg_catalog.pg_get_serial_sequence(${owner}, ${quoteLiteral(column.name)})`);
  }
  const { source } = column;
  const base = index.source(column);
  return source === null || base === undefined ? undefined : fallbackSql(index.table(source.table), base, index);
}

function nextValue(sequence: string): string {
  return `pg_catalog.nextval(${sequence})`;
}

function quotedName(id: string): string {
  const { schema, name } = splitQualified(id);
  return quoteLiteral(quoteQualified(schema, name));
}
