/** Search for words by an index: the document that the index has, and the fields that its words are of. */
import { type Dialect, dialectFacts, quoteName, type SearchDescriptor } from '@tablewright/runtime/language';
import type { PlatformConfig, SearchConfig } from '../config/config.ts';
import type { Collection, Index, Table } from '../schema.ts';
import { matchTables, tablesById } from './lookup.ts';

/** Reason why a collection cannot be searched so. */
interface SearchProblem {
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly hint: string | null;
}

/** Adds the search that the configuration asks for, where it is possible. */
export function declareSearch(
  collections: readonly Collection[],
  tables: readonly Table[],
  config: PlatformConfig,
  dialect: Dialect,
): readonly Collection[] {
  if (Object.values(config.collections ?? {}).every(({ search }) => search === undefined)) return collections;
  const settings = searchSettings(tables, config);
  const byId = tablesById(tables);
  return collections.map((collection) => {
    const setting = settings.get(collection.table);
    const table = byId.get(collection.table);
    if (setting === undefined || table === undefined) return collection;
    const search = resolveSearch(collection, table, setting, dialect);
    return 'message' in search ? collection : { ...collection, search };
  });
}

export function searchSettings(tables: readonly Table[], config: PlatformConfig): ReadonlyMap<string, SearchConfig> {
  const entries = [...matchTables(tables, config)];
  return new Map(entries.flatMap(([id, { search }]) => (search === undefined ? [] : [[id, search] as const])));
}

/** Finds document and fields, or why there are none. */
export function resolveSearch(
  collection: Collection,
  table: Table,
  setting: SearchConfig,
  dialect: Dialect,
): SearchDescriptor | SearchProblem {
  const { fields: named, language = 'simple' } = setting;
  if (!/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?$/.test(language))
    return error(`"${language}" is no text search configuration.`);
  const missing = named?.find((name) => columnOf(collection, name) === undefined);
  if (missing !== undefined) return error(`"${missing}" is no field of "${collection.name}".`);
  const columns = named?.flatMap((name) => columnOf(collection, name) ?? []);
  const found = dialectFacts[dialect].hasVectors
    ? findVector(table, setting, columns, language)
    : findFulltext(table, setting, columns);
  if ('message' in found) return found;
  const byColumn = new Map(collection.fields.map((field) => [field.column, field.name]));
  const fields = found.columns.flatMap((column) => byColumn.get(column) ?? []);
  if (fields.length < found.columns.length) {
    const message = 'The searched document has words of hidden columns, so that no request searches by the index.';
    return { code: 'search-falls-back', severity: 'warning', message, hint: 'Index visible fields alone.' };
  }
  return { fields, language, document: found.document };
}

function columnOf(collection: Collection, name: string): string | undefined {
  return collection.fields.find((field) => field.name === name || field.column === name)?.column;
}

/** A document, and the columns that its words are of. */
type Document = ReturnType<typeof expressionOf>;

function findVector(
  table: Table,
  { column: name }: SearchConfig,
  named: readonly string[] | undefined,
  language: string,
): Document | SearchProblem {
  if (name === undefined) {
    if (named === undefined || named.length === 0) return error('"column" or "fields" is needed.');
    return expressionOf(table, named, language);
  }
  const column = table.columns.find((candidate) => candidate.name === name);
  if (column?.type.base !== 'tsvector') return error(`"${name}" is no column of the type tsvector.`);
  const traced = column.fill.kind === 'generated' ? columnsIn(column.fill.expression, table) : undefined;
  if (traced !== undefined && named !== undefined)
    return error(
      '"fields" applies to a column that is not generated only.',
      'Leave it out: the expression names them.',
    );
  const columns = traced ?? named;
  if (columns === undefined)
    return error(`The words of "${name}" cannot be traced to columns.`, 'Name them as "fields".');
  return { document: `{${quoteName(name)}}`, columns };
}

/** The expression of an index over exactly these columns, else the one that an index should have. */
function expressionOf(table: Table, columns: readonly string[], language: string) {
  const indexed = table.indexes.flatMap(indexedExpressions).find((expression) => isOver(expression, columns, table));
  const document = indexed === undefined ? searchExpression(columns, language) : braced(indexed, table);
  return { document, columns };
}

function indexedExpressions({ columns, predicate }: Index): readonly string[] {
  return predicate === null ? columns.filter((text) => text.includes('to_tsvector(')) : [];
}

function isOver(expression: string, columns: readonly string[], table: Table): boolean {
  const found = columnsIn(expression, table);
  return found.length === columns.length && columns.every((column) => found.includes(column));
}

/** Document of an expression index over some columns, with the columns in braces. */
function searchExpression(columns: readonly string[], language: string): string {
  const texts = columns.map((column) => `COALESCE({${quoteName(column)}}::pg_catalog.text, '')`);
  return `pg_catalog.to_tsvector('${language}'::pg_catalog.regconfig, ${texts.join(" || ' ' || ")})`;
}

function findFulltext(
  table: Table,
  { column }: SearchConfig,
  columns: readonly string[] | undefined,
): Document | SearchProblem {
  if (column !== undefined || columns === undefined || columns.length === 0)
    return error('This server searches "fields", and has no column of words.');
  const index = table.indexes.find(
    ({ method, columns: indexed }) =>
      method.toUpperCase() === 'FULLTEXT' &&
      indexed.length === columns.length &&
      columns.every((name) => indexed.includes(name)),
  );
  if (index === undefined) {
    const listed = columns.map((name) => `\`${name.replaceAll('`', '``')}\``).join(', ');
    const hint = `ALTER TABLE \`${table.name.replaceAll('`', '``')}\` ADD FULLTEXT (${listed});`;
    return error('No FULLTEXT index is over exactly these fields.', hint);
  }
  return { document: columns.map((name) => `{${quoteName(name)}}`).join(', '), columns };
}

/** Texts, quoted and plain names of an expression. */
const tokens = /'(?:[^']|'')*'|"((?:[^"]|"")+)"|(::\s*)?([A-Za-z_][\w$]*)(\s*\()?/g;

/** Name of a column that a token may stand for. */
function nameIn(quotedName?: string, type?: string, name?: string, call?: string): string | undefined {
  if (quotedName !== undefined) return quotedName.replaceAll('""', '"');
  return type === undefined && call === undefined ? name : undefined;
}

/** Columns that an expression names. A name that may be one counts as one. */
function columnsIn(expression: string, { columns }: Table): readonly string[] {
  const names = new Set(columns.map(({ name }) => name));
  const found = [...expression.matchAll(tokens)].flatMap(([, ...parts]) => nameIn(...parts) ?? []);
  return [...new Set(found)].filter((name) => names.has(name));
}

function braced(expression: string, { columns }: Table): string {
  const names = new Set(columns.map(({ name }) => name));
  return expression.replace(tokens, (token, quotedName?: string, type?: string, name?: string, call?: string) => {
    const named = nameIn(quotedName, type, name, call);
    return named !== undefined && names.has(named) ? `{${quoteName(named)}}` : token;
  });
}

function error(message: string, hint: string | null = null): SearchProblem {
  return { code: 'search-index', severity: 'error', message, hint };
}
