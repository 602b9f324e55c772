/** Findings about the search of large tables of PostgreSQL: indexes that are missing, or that no search can use. */
import type { Collection, Schema, Table } from '@tablewright/introspect/schema';
import { isTextual } from '@tablewright/runtime/language';
import type { Finding } from '../finding.ts';
import { quotedName, quotedTable, type Source } from '../source.ts';

/** Estimated rows above which reading all of them is slow. */
const manyRows = 50_000;

interface LargeTable {
  /** Estimated by the server. */
  readonly rows: string;
  /** True if policies bind those who search. */
  readonly isGuarded: boolean;
  /** True if the operator for words, and that for parts of texts, may look at rows before policies do. */
  readonly leakproof: { readonly words: boolean; readonly parts: boolean };
}

/** Looks for tables whose rows are many, by the estimates of the server, and whose search is slow. */
export async function examineSearch({ run }: Source, schema: Schema): Promise<readonly Finding[]> {
  const byId = new Map(schema.tables.map((table) => [table.id, table]));
  const searched = schema.collections.flatMap((collection) => {
    const table = byId.get(collection.table);
    return table === undefined || collection.system || !isSearchable(collection) ? [] : [{ collection, table }];
  });
  const names = searched.map(({ table: { schema, name } }) => ({ schema, name }));
  const passesRoles = schema.rowSecurity?.roles !== undefined;
  const found = await run(tablesSql, [JSON.stringify(names), String(passesRoles)]);
  const large = new Map(
    found.map(([schema, name, rows, isGuarded, isSafeForWords, isSafeForParts]): readonly [string, LargeTable] => [
      JSON.stringify([schema, name]),
      {
        rows: rows ?? '',
        isGuarded: isGuarded === 'true',
        leakproof: { words: isSafeForWords === 'true', parts: isSafeForParts === 'true' },
      },
    ]),
  );
  return searched.flatMap(({ collection, table }) => {
    const largeTable = large.get(JSON.stringify([table.schema, table.name]));
    return largeTable === undefined ? [] : findingsOf(collection, table, largeTable);
  });
}

function findingsOf(collection: Collection, table: Table, large: LargeTable): readonly Finding[] {
  const advice = missingIndex(collection, table);
  if (advice === null) return [...guardedSearch(collection, large), ...expressedWords(collection, table)];
  const message = `"search" of ${collection.name} reads each of about ${large.rows} rows.`;
  return [{ check: 'search-unindexed', severity: 'note', message, advice }];
}

function isSearchable({ fields, search }: Collection): boolean {
  return search !== undefined || fields.some(({ type }) => isTextual(type));
}

/** Statement that makes the missing index; null where there is one. */
function missingIndex({ fields, search }: Collection, table: Table): string | null {
  const name = quotedTable('postgres', table);
  const inverted = table.indexes.filter(
    ({ method, predicate }) => ['gin', 'gist'].includes(method) && predicate === null,
  );
  if (search !== undefined) {
    const document = printDocument(search);
    const isColumn = isStored(search);
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

/** Before a policy has judged a row, the server asks only operators that cannot tell of it: others have no index then. */
function guardedSearch({ name, search }: Collection, { rows, isGuarded, leakproof }: LargeTable): readonly Finding[] {
  if (!isGuarded || (search === undefined ? leakproof.parts : leakproof.words)) return [];
  const message = `Policies keep "search" of ${name} from its index: it reads about ${rows} rows.`;
  const operator =
    search === undefined
      ? 'texticlike(pg_catalog.text, pg_catalog.text)'
      : 'ts_match_vq(pg_catalog.tsvector, pg_catalog.tsquery)';
  const advice = `As a superuser: ALTER FUNCTION pg_catalog.${operator} LEAKPROOF;`;
  return [{ check: 'search-policies', severity: 'note', message, advice }];
}

/** Words of an expression are made anew for each row that is ranked or checked. */
function expressedWords({ name, search }: Collection, table: Table): readonly Finding[] {
  if (search === undefined || isStored(search)) return [];
  const column = quotedName(
    'postgres',
    table.columns.some(({ name: taken }) => taken === 'search') ? 'words' : 'search',
  );
  const altered = quotedTable('postgres', table);
  const message = `"search" of ${name} makes the words of rows anew, as it has an index on an expression.`;
  const advice = `ALTER TABLE ${altered} ADD COLUMN ${column} tsvector GENERATED ALWAYS AS (${printDocument(search)}) STORED; CREATE INDEX ON ${altered} USING gin (${column}); and name the column in the configuration.`;
  return [{ check: 'search-expression', severity: 'note', message, advice }];
}

function printDocument({ document }: NonNullable<Collection['search']>): string {
  return document.replace(/\{("(?:[^"]|"")*")\}/g, '$1');
}

/** True where the words are those of a column. */
function isStored(search: NonNullable<Collection['search']>): boolean {
  return printDocument(search).startsWith('"');
}

const tablesSql = `SELECT n.nspname, c.relname, c.reltuples::bigint::text,
  (c.relrowsecurity AND ($2::boolean OR pg_catalog.row_security_active(c.oid)))::text, w.proleakproof::text, p.proleakproof::text
FROM pg_catalog.jsonb_to_recordset($1::jsonb) AS wanted(schema text, name text)
JOIN pg_catalog.pg_namespace AS n ON n.nspname = wanted.schema
JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = wanted.name
JOIN pg_catalog.pg_proc AS w ON w.oid = 'pg_catalog.ts_match_vq(pg_catalog.tsvector, pg_catalog.tsquery)'::pg_catalog.regprocedure
JOIN pg_catalog.pg_proc AS p ON p.oid = 'pg_catalog.texticlike(pg_catalog.text, pg_catalog.text)'::pg_catalog.regprocedure
WHERE c.reltuples > ${manyRows}`;
