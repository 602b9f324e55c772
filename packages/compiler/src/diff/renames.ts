/** Names that changed: certain where the database's name stayed, probable where only the form did. */
import { didYouMean } from '@tablewright/introspect';
import type { Collection, Schema, Table } from '@tablewright/introspect/schema';

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
  readonly members: ReadonlyMap<string, ReadonlyMap<string, string>>;
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

/** Puts renames into the form in which they are looked up. */
export function indexRenames(renames: readonly Rename[]): RenameIndex {
  const collections = renames.filter(({ from }) => !from.includes('.'));
  const members = new Map<string, Map<string, string>>();
  for (const { from, to } of renames.filter((rename) => rename.from.includes('.'))) {
    const [collection = '', name = ''] = splitName(to);
    const fields = members.get(collection) ?? new Map<string, string>();
    fields.set(splitName(from)[1] ?? '', name);
    members.set(collection, fields);
  }
  return { collections: new Map(collections.map(({ from, to }) => [from, to])), members };
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
  const taken = new Set<string>();
  return gone.flatMap((was): readonly Rename[] => {
    const same = fresh.find(({ table, name }) => table === was.table && !taken.has(name));
    const alike = fresh.filter((is) => !taken.has(is.name) && isAlike(tableOf(before, was), tableOf(after, is)));
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
