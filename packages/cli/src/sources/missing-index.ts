/** Missing indexes that a plan reveals, for plans of any server. */
import type { Schema, Table } from '@tablewright/introspect/schema';

/** A table whose rows are looked through one by one, because no index begins with a column or an expression that is asked about. */
export interface MissingIndex {
  /** `public.comments` */
  readonly table: string;
  /** Condition of the scan, in the server's words. */
  readonly condition: string;
  /** Columns of the table that the condition names, as a place to start. */
  readonly columns: readonly string[];
}

interface SearchedTable extends Table {
  /** Column that tells archived items, where DELETE archives them. */
  readonly archived?: string | undefined;
}

/** Tables to compare a plan with, by `schema.name`. */
export type TablesByName = ReadonlyMap<string, SearchedTable>;

export function tablesByName({ tables, collections }: Schema): TablesByName {
  const archived = new Map(
    collections.map(({ table, softDelete, fields }) => [
      table,
      fields.find(({ name }) => name === softDelete?.field)?.column,
    ]),
  );
  return new Map(
    tables.map((table) => [`${table.schema}.${table.name}`, { ...table, archived: archived.get(table.id) }]),
  );
}

/** A part of a plan that looks through rows for those that meet a condition. */
export interface Scan {
  /** Undefined if it is not a table of the schema. */
  readonly table: SearchedTable | undefined;
  readonly alias: string;
  readonly condition: string;
}

/** The scans that look for an index in vain, each once. */
export function withoutIndex(scans: readonly Scan[]): readonly MissingIndex[] {
  const found = scans.flatMap(missingFor);
  return [...new Map(found.map((missing) => [`${missing.table} ${missing.condition}`, missing])).values()];
}

const notNull = /(?:["`]?\w+["`]?\.)+(?:"(?:[^"]|"")*"|`(?:[^`]|``)*`|\w+) is not null/gi;

function missingFor({ table, alias, condition }: Scan): readonly MissingIndex[] {
  if (table === undefined) return [];
  const namedIn = (text: string): readonly string[] =>
    table.columns.map((column) => column.name).filter((column) => containsColumn(text, alias, column));
  // Most items are live, so an index of what tells them leaves nothing out.
  const chosen = table.archived === undefined ? condition : withoutLive(condition, alias, table.archived);
  if (namedIn(chosen).length === 0 && chosen !== condition) return [];
  // A plan may add that joined columns are not null, a condition for which no index is needed.
  const sought = namedIn(chosen.replaceAll(notNull, ''));
  const columns = sought.length > 0 ? sought : namedIn(chosen);
  const leading = [table.primaryKey, ...table.uniques, ...table.indexes].map((index) => index?.columns[0]);
  const plain = condition.replaceAll(new RegExp(`(?<![\\w"])"?${escaped(alias)}"?\\.`, 'g'), '');
  const serves = (key = ''): boolean =>
    columns.includes(key) || (key.startsWith('(') && plain.includes(key.slice(1, -1)));
  return leading.some(serves) ? [] : [{ table: table.id, condition, columns }];
}

/** A condition without the parts that leave archived items out: the column is null, or has another value than theirs. */
function withoutLive(condition: string, alias: string, column: string): string {
  const isLive = '["`)]*(?:::[\\w ]+)? (?:is null|(?:<>|!=) )';
  return condition.replaceAll(new RegExp(`${columnIn(alias, column)}${isLive}`, 'gi'), '');
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** In the conditions of plans every column stands after the alias of its table. */
function containsColumn(condition: string, alias: string, column: string): boolean {
  return new RegExp(`${columnIn(alias, column)}["\`]?(?![\\w"\`])`).test(condition);
}

function columnIn(alias: string, column: string): string {
  return `(?<![\\w"\`])["\`]?${escaped(alias)}["\`]?\\.["\`]?${escaped(column)}`;
}

/** Every object within a plan that is JSON, the outermost first. */
export function nodesOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (Array.isArray(value)) return value.flatMap(nodesOf);
  if (typeof value !== 'object' || value === null) return [];
  return [{ ...value }, ...Object.values(value).flatMap(nodesOf)];
}
