/** The earlier table under its current names, so that a mere renaming is no change. */
import type { Table } from '@tablewright/introspect/schema';
import type { RenameIndex } from './renames.ts';
import type { Side } from './side.ts';

type Names = ReadonlyMap<string, string>;

/** Ids of the tables of renamed collections, before to after. */
export function renamedTables(before: Side, after: Side, { collections }: RenameIndex): Names {
  return new Map(
    [...collections].flatMap(([from, to]) => {
      const [was, is] = [before.version.tables.get(from), after.version.tables.get(to)];
      return was === undefined || is === undefined ? [] : [[was.id, is.id] as const];
    }),
  );
}

/** Columns of the renamed fields of a collection, before to after. */
export function renamedColumns(before: Side, after: Side, was: string, is: string, { members }: RenameIndex): Names {
  const columnOf = ({ version }: Side, collection: string, field: string): string | undefined =>
    version.collections.get(collection)?.fields.find(({ descriptor }) => descriptor.name === field)?.stored.name;
  return new Map(
    [...(members.get(is) ?? [])].flatMap(([from, to]) => {
      const [old, fresh] = [columnOf(before, was, from), columnOf(after, is, to)];
      return old === undefined || fresh === undefined || old === fresh ? [] : [[old, fresh] as const];
    }),
  );
}

/** The table with other names of columns, and of the tables that it refers to. */
export function withNames(table: Table, columns: Names, tables: Names): Table {
  if (columns.size === 0 && tables.size === 0) return table;
  const named = (name: string): string => columns.get(name) ?? name;
  const within = (sql: string): string => sql.replaceAll(/[\p{L}_][\p{L}\p{N}_$]*/gu, named);
  return {
    ...table,
    columns: table.columns.map((column) => ({ ...column, name: named(column.name) })),
    uniques: table.uniques.map((unique) => ({ ...unique, columns: unique.columns.map(named) })),
    foreignKeys: table.foreignKeys.map((key) => ({
      ...key,
      columns: key.columns.map(named),
      target: tables.get(key.target) ?? key.target,
    })),
    checks: table.checks.map((check) => ({ ...check, expression: within(check.expression) })),
    indexes: table.indexes.map((index) => ({
      ...index,
      columns: index.columns.map((column) => (columns.has(column) ? named(column) : within(column))),
      predicate: index.predicate && within(index.predicate),
    })),
  };
}
