/** Objects that the role of the connection may not read, reported before a request fails. */
import type { Diagnostic } from '../diagnostic.ts';
import { groupedBy } from '../order.ts';
import type { Table } from '../schema.ts';
import { quotedNames } from '../table-names.ts';

/** Warnings about tables (one per schema) and about single columns (one per table) without the privilege SELECT. */
export function privilegeDiagnostics(tables: readonly Unreadable[]): Diagnostic[] {
  const incomplete = tables.filter(({ unreadable }) => unreadable.length > 0);
  const isWhole = ({ table, unreadable }: Unreadable): boolean => unreadable.length === table.columns.length;
  const schemas = groupedBy(incomplete.filter(isWhole), ({ table }) => table.schema);
  return [
    ...[...schemas].map(([schema, rows]) => tablesDiagnostic(schema, rows)),
    ...incomplete.filter((row) => !isWhole(row)).map(columnsDiagnostic),
  ];
}

interface Unreadable {
  readonly table: Table;
  /** Its columns that may not be read. */
  readonly unreadable: readonly string[];
}

function tablesDiagnostic(schema: string, rows: readonly Unreadable[]): Diagnostic {
  return {
    code: 'unreadable-tables',
    severity: 'warning',
    place: `schema ${schema}`,
    message: `The database role may not read ${quotedNames(rows.map(({ table }) => table.name))}: requests for them will fail.`,
    hint: 'GRANT it USAGE on the schema and SELECT on the tables, or leave them out with `database.exclude` in platform.config.ts.',
  };
}

function columnsDiagnostic({ table, unreadable }: Unreadable): Diagnostic {
  return {
    code: 'unreadable-columns',
    severity: 'warning',
    place: `table ${table.id}`,
    message: `The database role may not read the columns ${quotedNames(unreadable)}: requests for them will fail.`,
    hint: 'GRANT it SELECT on the columns, or set `hidden: true` for the fields in platform.config.ts.',
  };
}
