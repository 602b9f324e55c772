/** Collections with many rows whose `search` reads all of them. */
import type { Collection, Schema, Table } from '@tablewright/introspect/schema';
import { isTextual } from '@tablewright/runtime/language';
import type { Finding } from '../finding.ts';
import { quotedName, quotedTable } from '../quoted.ts';
import type { Source } from '../source.ts';

/** Estimated rows above which reading all of them is slow. */
const manyRows = 50_000;

/** Looks for tables whose rows are many, by the estimates of the server, and whose texts have no index. */
export async function unindexedSearch({ run }: Source, { collections, tables }: Schema): Promise<readonly Finding[]> {
  const byId = new Map(tables.map((table) => [table.id, table]));
  const searched = collections.flatMap((collection) => {
    const table = byId.get(collection.table);
    const advice = table === undefined || collection.system ? null : missingIndex(collection, table);
    return table === undefined || advice === null ? [] : [{ collection, table, advice }];
  });
  const searchedTables = searched.map(({ table: { schema, name } }) => ({ schema, name }));
  const large = new Map(
    (await run(rowsSql, [JSON.stringify(searchedTables)])).map(([schema, name, rows]) => [
      JSON.stringify([schema, name]),
      rows,
    ]),
  );
  return searched.flatMap(({ collection: { name }, table, advice }) => {
    const rows = large.get(JSON.stringify([table.schema, table.name]));
    if (rows == null) return [];
    const message = `"search" of ${name} reads each of about ${rows} rows.`;
    return [{ check: 'search-unindexed', severity: 'note' as const, message, advice }];
  });
}

/** Statement that makes the missing index; null where there is one, or nothing to search. */
function missingIndex({ fields, search }: Collection, table: Table): string | null {
  const name = quotedTable('postgres', table);
  const inverted = table.indexes.filter(
    ({ method, predicate }) => ['gin', 'gist'].includes(method) && predicate === null,
  );
  if (search !== undefined) {
    const document = search.document.replace(/\{("(?:[^"]|"")*")\}/g, '$1');
    const isColumn = document.startsWith('"');
    const isIndexed = inverted.some(({ columns }) =>
      columns.some((column) =>
        isColumn ? quotedName('postgres', column) === document : column.includes('to_tsvector('),
      ),
    );
    return isIndexed ? null : `CREATE INDEX ON ${name} USING gin (${isColumn ? document : `(${document})`});`;
  }
  const columns = fields.filter(({ type }) => isTextual(type)).map(({ column }) => column);
  const missing = columns.filter((column) => !inverted.some((index) => index.columns.includes(column)));
  if (missing.length === 0) return null;
  const listed = missing.map((column) => `${quotedName('postgres', column)} gin_trgm_ops`).join(', ');
  return `CREATE EXTENSION IF NOT EXISTS pg_trgm; CREATE INDEX ON ${name} USING gin (${listed});`;
}

const rowsSql = `SELECT n.nspname, c.relname, c.reltuples::bigint::text
FROM pg_catalog.jsonb_to_recordset($1::jsonb) AS wanted(schema text, name text)
JOIN pg_catalog.pg_namespace AS n ON n.nspname = wanted.schema
JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = wanted.name
WHERE c.reltuples > ${manyRows}`;
