/** Facts of the catalog that the IR does not keep, reported by name. */
import { ledgerTable, reservedPrefix } from '@tablewright/runtime/language';
import type { Diagnostic } from '../diagnostic.ts';
import type { ColumnType, Table } from '../schema.ts';
import { notServed, quotedNames, tableId } from '../table-names.ts';
import type { Catalog, ConstraintRow, IndexRow, ObjectRow, RelationRow } from './catalog.ts';
import { relationId } from './columns.ts';
import type { Listed, Lookup } from './lookup.ts';

/** Remarks about one table: constraints, indexes and inheritance. */
export function tableRemarks(lookup: Lookup, listed: Listed, table: RelationRow): Diagnostic[] {
  return [
    ...lookup.constraints(table.oid).flatMap((row) => constraintRemark(table, row)),
    ...lookup.indexes(table.oid).flatMap((row) => indexRemark(table, row)),
    ...inheritanceRemark(lookup, table),
    ...columnsRemark(lookup, table),
    ...viewRemark(lookup, listed, table),
  ];
}

/** Remarks about types and about objects that are no tables. */
export function catalogRemarks(catalog: Catalog, lookup: Lookup, tables: readonly Table[]): Diagnostic[] {
  return [
    ...unknownTypes(tables),
    ...unusedTypes(catalog, tables),
    ...partitionKeys(catalog, lookup),
    ...otherObjects(catalog.objects.filter((row) => !isOwn(catalog, row) && !isRoutine(catalog, row))),
  ];
}

/** True for functions; the ones that are served are known only with the configuration. */
function isRoutine({ functions }: Catalog, { kind }: ObjectRow): boolean {
  return functions !== undefined && (kind === 'function' || kind === 'procedure');
}

/** The platform's own functions and triggers need no remark. */
function isOwn({ selection, relations }: Catalog, { nspname, relation, name }: ObjectRow): boolean {
  if (!(relation ?? name).startsWith(reservedPrefix)) return false;
  return (
    nspname === selection.system || relations.some((row) => row.nspname === nspname && row.relname === ledgerTable)
  );
}

function info(code: string, location: string, message: string): Diagnostic {
  return { code, severity: 'info', place: location, message, hint: null };
}

function constraintRemark(table: RelationRow, row: ConstraintRow): Diagnostic[] {
  const location = `table ${relationId(table)}`;
  const name = `"${row.conname}"`;
  if (row.contype === 'x') {
    return [
      info('exclusion-constraint', location, `The exclusion constraint ${name} is enforced by the database only.`),
    ];
  }
  if (row.contype === 'c' && !row.conenforced) {
    return [info('check-not-enforced', location, `The check ${name} is NOT ENFORCED: rows may break it.`)];
  }
  if (row.contype === 'c' && !row.convalidated) {
    return [info('check-not-validated', location, `The check ${name} is NOT VALID: rows that exist may break it.`)];
  }
  if (row.contype === 'n' && !row.convalidated) {
    return [info('not-null-not-validated', location, `${name} is NOT VALID: its column is taken as nullable.`)];
  }
  if ((row.contype === 'p' || row.contype === 'u') && row.conperiod) {
    return [
      info('temporal-key', location, `The key ${name} is WITHOUT OVERLAPS: it also forbids overlapping periods.`),
    ];
  }
  return [];
}

function indexRemark(table: RelationRow, row: IndexRow): Diagnostic[] {
  if (row.indisvalid) return [];
  const message = `The index "${row.relname}" is invalid and is left out.`;
  return [{ ...info('index-invalid', `table ${relationId(table)}`, message), hint: 'REINDEX it, or drop it.' }];
}

function inheritanceRemark(lookup: Lookup, table: RelationRow): Diagnostic[] {
  if (!lookup.hasChildren(table.oid)) return [];
  const message = `Rows of the tables that inherit from "${table.relname}" appear in it, too: its keys do not cover them.`;
  return [info('inheritance-parent', `table ${relationId(table)}`, message)];
}

function columnsRemark(lookup: Lookup, table: RelationRow): Diagnostic[] {
  if (lookup.columns(table.oid).length > 0) return [];
  return [info('no-columns', `table ${relationId(table)}`, `"${table.relname}" has no columns.`)];
}

/** Relations that a view reads and that are not served: its columns then have no source. */
function viewRemark(lookup: Lookup, listed: Listed, view: RelationRow): Diagnostic[] {
  const origins = [...(lookup.trace(view.oid)?.origins.values() ?? [])];
  const outside = origins.flatMap(({ relation }) => {
    const row = lookup.relations.get(relation);
    return row && !listed.has(lookup.root(relation)) ? [relationId(row)] : [];
  });
  if (outside.length === 0) return [];
  const message = `"${view.relname}" reads ${quotedNames(outside)}, not served in their own right.`;
  return [info('view-source-outside', `table ${relationId(view)}`, message)];
}

/** Foreign keys that only a partition has. One per partition. */
function partitionKeys(catalog: Catalog, lookup: Lookup): Diagnostic[] {
  const keys = catalog.constraints.filter((row) => row.contype === 'f');
  return [...Map.groupBy(keys, (row) => row.conrelid)].flatMap(([relation, rows]) => {
    const partition = lookup.relations.get(relation);
    const root = lookup.relations.get(lookup.root(relation));
    if (!partition?.relispartition || !partition.allowed || !root) return [];
    const names = quotedNames(rows.map((row) => row.conname));
    const message = `Foreign keys that the partition "${partition.relname}" has alone are no relations: ${names}.`;
    return [info('foreign-key-of-partition', `table ${relationId(root)}`, message)];
  });
}

/** One per type, with the columns that have it. */
function unknownTypes(tables: readonly Table[]): Diagnostic[] {
  const found = tables.flatMap((table) =>
    table.columns.flatMap((column) => {
      const type = innermost(column.type);
      if (type.portable !== 'unknown') return [];
      const isRequired =
        ['table', 'partitioned'].includes(table.kind) && !column.nullable && column.fill.kind === 'none';
      return [{ type: type.base, column: `${table.id}.${column.name}`, isRequired }];
    }),
  );
  return [...Map.groupBy(found, (use) => use.type)].map(([type, uses]) => {
    const names = quotedNames(uses.map((use) => use.column));
    const message = `"${type}" has no portable form: it is read as text and not written, in ${names}.`;
    const required = uses.filter(({ isRequired }) => isRequired).map(({ column }) => column);
    return {
      ...info('type-unknown', `type ${type}`, message),
      hint: required.length === 0 ? null : requiredHint(required),
    };
  });
}

function requiredHint(columns: readonly string[]): string {
  return `Items cannot be created there before ${quotedNames(columns)} have a default or are generated from other columns.`;
}

function innermost(type: ColumnType): ColumnType {
  return type.element ? innermost(type.element) : type;
}

/** Types other than enums that no column has; ranges also make a multirange, which is not told. */
function unusedTypes(catalog: Catalog, tables: readonly Table[]): Diagnostic[] {
  const used = new Set(tables.flatMap((table) => table.columns.flatMap((column) => typeNames(column.type))));
  const unused = catalog.types.filter(
    (row) =>
      row.allowed &&
      row.extension === null &&
      ['b', 'c', 'd', 'r'].includes(row.typtype) &&
      !used.has(tableId(row.nspname, row.typname)),
  );
  return [...Map.groupBy(unused, (row) => row.nspname)].map(([schema, rows]) =>
    info('type-unused', `schema ${schema}`, `No column has the types ${quotedNames(rows.map((row) => row.typname))}.`),
  );
}

function typeNames(type: ColumnType): readonly string[] {
  return [type.base, ...type.domains.map((domain) => domain.name), ...(type.element ? typeNames(type.element) : [])];
}

/** One per table or schema and kind. */
function otherObjects(objects: readonly ObjectRow[]): Diagnostic[] {
  const groups = Map.groupBy(objects, (row) => JSON.stringify([row.nspname, row.relation, row.kind]));
  return [...groups.values()].flatMap((rows) => {
    const [first] = rows;
    return first
      ? [
          objectsRemark(
            first,
            rows.map((row) => row.name),
          ),
        ]
      : [];
  });
}

function objectsRemark({ nspname, relation, kind }: ObjectRow, names: readonly string[]): Diagnostic {
  return notServed(relation === null ? `schema ${nspname}` : `table ${tableId(nspname, relation)}`, kind, names);
}
