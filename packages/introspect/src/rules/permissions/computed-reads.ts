import { collectionsByName, tablesById } from '../../passes/lookup.ts';
import type { Collection, Table } from '../../schema.ts';
import type { Rule } from '../rule.ts';
import { quotedList } from '../rule.ts';

/** A computed field sees the whole row, and so may tell something about columns that its readers cannot read. */
export const computedReads: Rule = ({ collections, tables, roles, permissions }, { permissions: { fileName } }) => {
  const byTable = tablesById(tables);
  const administrators = new Set(roles.filter(({ admin }) => admin).map(({ name }) => name));
  const ruled = permissions.filter(({ action, role }) => action === 'read' && !administrators.has(role));
  return [...collectionsByName(collections).values()].flatMap((collection) => {
    const table = byTable.get(collection.table);
    return computedNames(collection, table).flatMap((field) => {
      const partial = ruled.filter(
        ({ collection: name, fields }) =>
          name === collection.name && fields.includes(field) && !readsRow(collection, table, fields),
      );
      const readers = [...new Set(partial.map(({ role }) => role))];
      if (readers.length === 0) return [];
      const verb = readers.length > 1 ? 'read' : 'reads';
      return {
        code: 'computed-reads-hidden',
        severity: 'warning' as const,
        place: fileName,
        message: `${quotedList(readers)} ${verb} "${collection.name}.${field}", which sees the whole row, but not every column of it.`,
        hint: 'Grant it only where it tells nothing about the other columns.',
      };
    });
  });
};

function computedNames({ fields }: Collection, table: Table | undefined): readonly string[] {
  const computed = table?.columns.flatMap(({ name, computed: routine }) => (routine === undefined ? [] : [name]));
  return fields.flatMap(({ name, column }) => (computed?.includes(column) === true ? [name] : []));
}

/** True if the fields show every column that the database has. */
function readsRow({ fields }: Collection, table: Table | undefined, names: readonly string[]): boolean {
  const shown = new Set(fields.flatMap(({ name, column }) => (names.includes(name) ? [column] : [])));
  return table?.columns.every(({ name, computed }) => computed !== undefined || shown.has(name)) === true;
}
