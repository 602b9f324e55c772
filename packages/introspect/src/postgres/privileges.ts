/** What the role of the connection may not read, told before a request finds out. */
import type { Diagnostic } from '../diagnostic.ts';
import { groupedBy } from '../order.ts';
import { quotedNames } from '../patterns.ts';
import type { RelationRow } from './catalog.ts';
import { relationId } from './columns.ts';
import type { Lookup } from './lookup.ts';

/** Warnings about tables (one per schema) and about single columns (one per table) without the privilege SELECT. */
export function privilegeDiagnostics(lookup: Lookup, tables: readonly RelationRow[]): Diagnostic[] {
  const found = tables.map((table) => ({ table, names: unreadableColumns(lookup, table) }));
  const incomplete = found.filter(({ names }) => names.length > 0);
  const isWhole = ({ table, names }: Unreadable): boolean => names.length === lookup.columns(table.oid).length;
  const schemas = groupedBy(incomplete.filter(isWhole), ({ table }) => table.nspname);
  return [
    ...[...schemas].map(([schema, rows]) => tablesDiagnostic(schema, rows)),
    ...incomplete.filter((row) => !isWhole(row)).map(columnsDiagnostic),
  ];
}

interface Unreadable {
  readonly table: RelationRow;
  /** Its columns that may not be read. */
  readonly names: readonly string[];
}

function unreadableColumns(lookup: Lookup, table: RelationRow): readonly string[] {
  return lookup.columns(table.oid).flatMap(({ attname, isReadable }) => (isReadable ? [] : [attname]));
}

function tablesDiagnostic(schema: string, rows: readonly Unreadable[]): Diagnostic {
  return {
    code: 'unreadable-tables',
    severity: 'warning',
    place: `schema ${schema}`,
    message: `The database role may not read ${quotedNames(rows.map(({ table }) => table.relname))}: requests for them will fail.`,
    hint: 'GRANT it USAGE on the schema and SELECT on the tables, or leave them out with `database.exclude` in platform.config.ts.',
  };
}

function columnsDiagnostic({ table, names }: Unreadable): Diagnostic {
  return {
    code: 'unreadable-columns',
    severity: 'warning',
    place: `table ${relationId(table)}`,
    message: `The database role may not read the columns ${quotedNames(names)}: requests for them will fail.`,
    hint: 'GRANT it SELECT on the columns, or set `hidden: true` for the fields in platform.config.ts.',
  };
}
