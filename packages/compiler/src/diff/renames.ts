/** Names that changed: certain where the database's name stayed, probable where only the form did. */
import { didYouMean } from '@tablewright/introspect';
import type { Collection, Schema, Table } from '@tablewright/introspect/schema';
import { quoteName } from '@tablewright/runtime/language';

/** One rename, by API names: `articles`, or `articles.title` with the collection's new name. */
export interface Rename {
  readonly from: string;
  readonly to: string;
  /** False if it is a guess that needs confirmation. */
  readonly certain: boolean;
}

export interface RenameIndex {
  /** Old collection name to new one. */
  readonly collections: ReadonlyMap<string, string>;
  /** By new collection name: old field or relation name to new one. */
  readonly members: ReadonlyMap<string, Names>;
  readonly stored: StoredNames;
}

type Names = ReadonlyMap<string, string>;

/** Names in the database, of what is the same table or column under another one. */
export interface StoredNames {
  /** Old id of a table to its new one. */
  readonly tables: Names;
  /** By old id of a table: old name of a column to its new one. */
  readonly columns: ReadonlyMap<string, Names>;
}

/** Finds what was renamed between two schemas, collections first. */
export function findRenames(before: Schema, after: Schema): readonly Rename[] {
  const collections = renamedCollections(before, after);
  const names = new Map(collections.map(({ from, to }) => [from, to]));
  const old = new Map(
    before.collections.map((collection) => [names.get(collection.name) ?? collection.name, collection]),
  );
  const members = after.collections.flatMap((is) => {
    const was = old.get(is.name);
    return was === undefined ? [] : renamedFields(was, is, tableOf(before, was), tableOf(after, is));
  });
  return [...collections, ...members];
}

/** Puts renames between two schemas into the form in which they are looked up. */
export function indexRenames(before: Schema, after: Schema, renames: readonly Rename[]): RenameIndex {
  const names = new Map(renames.filter(({ from }) => !from.includes('.')).map(({ from, to }) => [from, to]));
  const members = new Map<string, Map<string, string>>();
  for (const { from, to } of renames.filter((rename) => rename.from.includes('.'))) {
    const [collection = '', name = ''] = splitName(to);
    const fields = members.get(collection) ?? new Map<string, string>();
    fields.set(splitName(from)[1] ?? '', name);
    members.set(collection, fields);
  }
  return { collections: names, members, stored: storedNames(before, after, names, members) };
}

function storedNames(before: Schema, after: Schema, collections: Names, members: RenameIndex['members']): StoredNames {
  const [old, fresh] = [before, after].map(({ tables }) => new Map(tables.map((table) => [table.id, table])));
  const shown = new Map(after.collections.map((collection) => [collection.name, collection]));
  const tables = new Map<string, string>();
  const columns = new Map<string, Names>();
  for (const was of before.collections) {
    const is = shown.get(collections.get(was.name) ?? was.name);
    if (is === undefined) continue;
    const isMoved = !fresh?.has(was.table) && !old?.has(is.table);
    if (was.table !== is.table && (isMoved || was.name !== is.name)) tables.set(was.table, is.table);
    columns.set(was.table, storedColumns(was, is, old?.get(was.table), fresh?.get(is.table), members.get(is.name)));
  }
  return { tables, columns };
}

/** Under a kept name of the API a column is renamed if its old name is gone and the other one is new. */
function storedColumns(
  was: Collection,
  is: Collection,
  before: Table | undefined,
  after: Table | undefined,
  renamed: Names = new Map(),
): Names {
  const has = (table: Table | undefined, name: string): boolean =>
    table?.columns.some((column) => column.name === name) === true;
  return new Map(
    was.fields.flatMap(({ name, column }) => {
      const fresh = is.fields.find((field) => field.name === (renamed.get(name) ?? name))?.column ?? column;
      const isMoved = renamed.has(name) || (!has(after, column) && !has(before, fresh));
      return fresh !== column && isMoved ? [[column, fresh] as const] : [];
    }),
  );
}

/** Texts, types, collations and parts of times; names in the quotes of both families of servers; words that call nothing. */
const tokens =
  /'(?:[^']|'')*'|::(?:[\w.]|"(?:[^"]|"")+")+(?: varying| precision)?(?:\([\d,]+\))?(?: with(?:out)? time zone)?|COLLATE "(?:[^"]|"")+"|EXTRACT\(\w+|"((?:[^"]|"")+)"|`((?:[^`]|``)+)`|[\p{L}_][\p{L}\p{N}_$]*(?![\p{L}\p{N}_$(.])/gu;

/** Keywords that stand in double quotes where they are names. Source: `pg_get_keywords()`, all but the unreserved ones. */
const keywords: ReadonlySet<string> = new Set(
  `all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case
  cast char character check coalesce collate collation column concurrently constraint create cross current_catalog
  current_date current_role current_schema current_time current_timestamp current_user dec decimal default
  deferrable desc distinct do else end except exists extract false fetch float for foreign freeze from full grant
  greatest group grouping having ilike in initially inner inout int integer intersect interval into is isnull join
  json json_array json_arrayagg json_exists json_object json_objectagg json_query json_scalar json_serialize
  json_table json_value lateral leading least left like limit localtime localtimestamp merge_action national
  natural nchar none normalize not notnull null nullif numeric offset on only or order out outer overlaps overlay
  placing position precision primary real references returning right row select session_user setof similar
  smallint some substring symmetric system_user table tablesample then time timestamp to trailing treat trim true
  union unique user using values varchar variadic verbose when where window with xmlattributes xmlconcat
  xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`.split(/\s+/),
);

/** True for a name that needs no quotes where others stand in double quotes. */
function isPlain(name: string): boolean {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !keywords.has(name);
}

/** Gives SQL with the new names of columns, in quotes where servers print them so. */
export function withColumns(sql: string, names: Names): string {
  if (names.size === 0) return sql;
  // Servers whose quotes are backticks quote every name.
  const isTicked = sql.includes('`');
  return sql.replaceAll(tokens, (token, quoted?: string, ticked?: string) => {
    const plain = isPlain(token) && !isTicked ? token : '';
    const name = names.get(quoted?.replaceAll('""', '"') ?? ticked?.replaceAll('``', '`') ?? plain);
    if (name === undefined) return token;
    if (ticked !== undefined) return `\`${name.replaceAll('`', '``')}\``;
    return isPlain(name) ? name : quoteName(name);
  });
}

/** The first characters of a column, which servers of backticks are read as having without quotes. */
function withPrefix(part: string, names: Names): string | undefined {
  const [, column = '', rest] = /^\(left\((.*)(, \d+\)\))$/.exec(part) ?? [];
  return rest === undefined ? undefined : `(left(${names.get(column) ?? column}${rest}`;
}

/** Gives a table before with the new names of its columns, and of the tables that it refers to. */
export function withStoredNames(table: Table, { tables, columns }: StoredNames): Table {
  const names = columns.get(table.id) ?? new Map<string, string>();
  const renamed = (all: readonly string[], by: Names | undefined = names): readonly string[] =>
    all.map((name) => by?.get(name) ?? name);
  const inKey = <T extends { readonly columns: readonly string[] }>(key: T): T => ({
    ...key,
    columns: renamed(key.columns),
  });
  return {
    ...table,
    columns: table.columns.map((column) => ({ ...column, name: names.get(column.name) ?? column.name })),
    primaryKey: table.primaryKey && inKey(table.primaryKey),
    uniques: table.uniques.map(inKey),
    foreignKeys: table.foreignKeys.map((key) => ({
      ...inKey(key),
      target: tables.get(key.target) ?? key.target,
      targetColumns: renamed(key.targetColumns, columns.get(key.target) ?? new Map()),
    })),
    checks: table.checks.map((check) => ({ ...check, expression: withColumns(check.expression, names) })),
    indexes: table.indexes.map((index) => ({
      ...index,
      columns: index.columns.map((part) => names.get(part) ?? withPrefix(part, names) ?? withColumns(part, names)),
      predicate: index.predicate && withColumns(index.predicate, names),
    })),
  };
}

/** Names of collections have no dots that matter here: the last one separates the field. */
function splitName(name: string): readonly string[] {
  const dot = name.lastIndexOf('.');
  return [name.slice(0, dot), name.slice(dot + 1)];
}

function renamedCollections(before: Schema, after: Schema): readonly Rename[] {
  const gone = before.collections.filter(
    ({ name }) => !after.collections.some((collection) => collection.name === name),
  );
  const fresh = after.collections.filter(
    ({ name }) => !before.collections.some((collection) => collection.name === name),
  );
  const isTable = ({ tables }: Schema, id: string): boolean => tables.some((table) => table.id === id);
  const taken = new Set<string>();
  return gone.flatMap((was): readonly Rename[] => {
    // A table that is still there has no other name, nor has one that was there before.
    const added = isTable(after, was.table) ? [] : fresh.filter(({ table }) => !isTable(before, table));
    const same = fresh.find(({ table, name }) => table === was.table && !taken.has(name));
    const alike = added.filter((is) => !taken.has(is.name) && isAlike(tableOf(before, was), tableOf(after, is)));
    const found = same ?? (alike.length === 1 ? alike[0] : undefined);
    if (found === undefined) return [];
    taken.add(found.name);
    return [{ from: was.name, to: found.name, certain: same !== undefined }];
  });
}

/** Four of five columns are the same by name and type, and there are enough of them to tell. */
function isAlike(was: Table | undefined, is: Table | undefined): boolean {
  if (was === undefined || is === undefined) return false;
  const columns = new Set(was.columns.map(({ name, nativeType }) => `${name} ${nativeType}`));
  const common = is.columns.filter(({ name, nativeType }) => columns.has(`${name} ${nativeType}`)).length;
  const larger = Math.max(was.columns.length, is.columns.length);
  return larger >= 2 && common / larger >= 0.8;
}

function renamedFields(
  was: Collection,
  is: Collection,
  before: Table | undefined,
  after: Table | undefined,
): readonly Rename[] {
  const gone = was.fields.filter(({ name }) => !is.fields.some((field) => field.name === name));
  const fresh = is.fields.filter(({ name }) => !was.fields.some((field) => field.name === name));
  const taken = new Set<string>();
  return gone.flatMap((field): readonly Rename[] => {
    const open = fresh.filter(({ name }) => !taken.has(name));
    const same = open.find(({ column }) => column === field.column);
    const form = formOf(before, field.column);
    const alike = open.filter(({ column }) => form !== null && formOf(after, column) === form);
    const others = gone.filter(({ column }) => formOf(before, column) === form);
    const nearest = didYouMean(
      field.name,
      alike.map(({ name }) => name),
    );
    const guess = alike.length === 1 && others.length === 1 ? alike[0] : alike.find(({ name }) => name === nearest);
    const found = same ?? guess;
    if (found === undefined) return [];
    taken.add(found.name);
    return [{ from: `${is.name}.${field.name}`, to: `${is.name}.${found.name}`, certain: same !== undefined }];
  });
}

function formOf(table: Table | undefined, name: string): string | null {
  const column = table?.columns.find((candidate) => candidate.name === name);
  return column === undefined ? null : `${column.nativeType} ${column.nullable} ${JSON.stringify(column.fill)}`;
}

function tableOf({ tables }: Schema, { table }: Collection): Table | undefined {
  return tables.find(({ id }) => id === table);
}
