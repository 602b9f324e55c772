import type { Column, Table } from '@tablewright/introspect/schema';
import { quoteLiteral, quoteQualified, splitQualified } from './quote.ts';
import type { SchemaIndex } from './schema-index.ts';

/**
 * SQL of what fills a column that an INSERT leaves out; undefined when that is null. Of a view's column the one it shows.
 *
 * A batch in which only some items have a value names the column for all of them, and then nothing is left out.
 */
export function fallbackSql(table: Table, column: Column, index: SchemaIndex): string | undefined {
  const { fill } = column;
  if (fill.kind === 'default') return fill.expression;
  if (fill.kind === 'serial') return nextValue(`${quotedName(fill.sequence)}::pg_catalog.regclass`);
  // MySQL and MariaDB generate a number wherever they are given none, or null.
  if (index.dialect !== 'postgres') return undefined;
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
