import { printTable } from '@tablewright/runtime/language';
import { tablesById } from '../../passes/lookup.ts';
import type { ForeignKey, Schema, Table } from '../../schema.ts';
import type { Rule } from '../rule.ts';
import { tablePlace } from '../rule.ts';

/** A foreign key to a table or over a column that the API does not show is served as plain columns. */
export const hiddenForeignKeys: Rule = (schema) => {
  const byId = tablesById(schema.tables);
  const shown = new Set(schema.collections.map(({ table }) => table));
  return schema.collections.flatMap((collection) => {
    const table = byId.get(collection.table);
    const columns = new Set(collection.fields.map(({ column }) => column));
    return (table?.foreignKeys ?? []).flatMap((key) => {
      const isTargetHidden = !shown.has(key.target);
      if (table === undefined || (!isTargetHidden && key.columns.every((column) => columns.has(column)))) return [];
      return [plainColumns(table, key, isTargetHidden, schema)];
    });
  });
};

function plainColumns(table: Table, key: ForeignKey, isTargetHidden: boolean, schema: Schema) {
  const isKnown = schema.tables.some(({ id }) => id === key.target);
  const reason = isTargetHidden
    ? `"${printTable(schema.dialect, key.target)}" is ${isKnown ? 'left out' : 'outside what is read'}`
    : 'a column is hidden';
  return {
    code: 'foreign-key-not-shown',
    severity: 'info' as const,
    place: tablePlace(schema, table),
    message: `The foreign key "${key.name}" makes no relation, because ${reason}.`,
    hint: null,
  };
}
