import type { Collection, Column, Table } from '@tablewright/introspect/schema';
import { type ConstraintDescriptor, systemCollection } from '@tablewright/runtime/language';
import type { SchemaIndex } from './schema-index.ts';

/** The constraints that a write to a collection can violate, by name: those of its table, or of the tables a view shows. */
export function resolveConstraints(
  collection: Collection,
  table: Table,
  index: SchemaIndex,
): readonly ConstraintDescriptor[] {
  // A unique index on an expression may be one on a column that is no field.
  const fixedUniques = collection.system === undefined ? {} : (systemCollection(collection.name)?.uniques ?? {});
  const places = collection.fields.map(({ name, column }) => ({
    name,
    ...baseOf(table, index.column(table, column), index),
  }));
  const groups = Map.groupBy(places, (field) => field.table);
  const found = [...groups].flatMap(([base, fields]) => {
    const byColumn = new Map(fields.map(({ name, column }) => [column, name]));
    return constraintsOf(base, byColumn, index).filter(({ name }) => !(name in fixedUniques));
  });
  for (const [name, fields] of Object.entries(fixedUniques))
    found.push({ name, type: 'unique', fields, incomplete: true });
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The table and column that a value is stored in. */
function baseOf(table: Table, column: Column, index: SchemaIndex): { readonly table: Table; readonly column: string } {
  const base = index.source(column);
  if (column.source === null || base === undefined) return { table, column: column.name };
  return baseOf(index.table(column.source.table), base, index);
}

function constraintsOf(
  table: Table,
  fields: ReadonlyMap<string, string>,
  index: SchemaIndex,
): readonly ConstraintDescriptor[] {
  const named = (columns: readonly string[]) => columns.flatMap((column) => fields.get(column) ?? []);
  const keys = [...(table.primaryKey === null ? [] : [table.primaryKey]), ...table.uniques];
  return [
    ...keys.map(({ name, columns }) => {
      const uniqueFields = named(columns);
      const incomplete = uniqueFields.length < columns.length;
      return { name, type: 'unique' as const, fields: uniqueFields, ...(incomplete && { incomplete }) };
    }),
    ...table.foreignKeys.map(({ name, columns, target, validated }) => {
      const collection = index.collectionOf(target);
      const details = { ...(collection && { target: collection }), ...(!validated && { unchecked: true as const }) };
      return { name, type: 'foreign_key' as const, fields: named(columns), ...details };
    }),
    ...table.checks.map(({ name, columns }) => ({ name, type: 'check' as const, fields: named(columns) })),
  ];
}
