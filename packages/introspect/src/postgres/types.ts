import type { PortableType } from '@platform/runtime/contract';
import { sortedBy } from '../order.ts';
import type { ColumnType, EnumType } from '../schema.ts';
import { tableId } from '../table-id.ts';
import type { Catalog, DomainCheck, TypeRow } from './catalog.ts';
import { limitsOf, portableBuiltIn, portableExtension } from './portable.ts';

/** Types by their oid. */
export type TypesByOid = ReadonlyMap<string, TypeRow>;

/** Indexes the types of a catalog. */
export function typesByOid(catalog: Catalog): TypesByOid {
  return new Map(catalog.types.map((row) => [row.oid, row]));
}

/** The enums of the allowed schemas, and those from elsewhere that a column uses. Sorted by schema and name. */
export function buildEnums(catalog: Catalog, used: ReadonlySet<string>): EnumType[] {
  const rows = catalog.types.filter((row) => row.typtype === 'e' && isListedEnum(row, used));
  return sortedBy(
    rows,
    (row) => row.nspname,
    (row) => row.typname,
  ).map((row) => ({ schema: row.nspname, name: row.typname, labels: row.labels ?? [], comment: row.description }));
}

function isListedEnum(row: TypeRow, used: ReadonlySet<string>): boolean {
  return used.has(tableId(row.nspname, row.typname)) || (row.allowed && row.extension === null);
}

/** Resolves a type: domains to their base, arrays to their element. A type that is not in the catalog is unknown. */
export function buildColumnType(types: TypesByOid, oid: string, typmod: number): ColumnType {
  const row = types.get(oid);
  if (!row) return { ...plainType('unknown', 'unknown'), category: 'base' };
  if (row.typtype === 'd') return buildDomain(types, row, typmod);
  if (row.element !== null) return buildArray(types, row.element, row, typmod);
  return buildScalar(row, typmod);
}

/** The checks of a domain and of the domains it is made of; empty for any other type. */
export function domainChecksOf(types: TypesByOid, oid: string): readonly DomainCheck[] {
  const row = types.get(oid);
  if (row?.typtype !== 'd') return [];
  return [...sortedBy(row.checks ?? [], (check) => check.conname), ...domainChecksOf(types, row.typbasetype)];
}

function buildDomain(types: TypesByOid, row: TypeRow, typmod: number): ColumnType {
  // A domain's own modifier counts; the column of a domain has none.
  const base = buildColumnType(types, row.typbasetype, row.typtypmod >= 0 ? row.typtypmod : typmod);
  const checks = sortedBy(row.checks ?? [], (check) => check.conname).map((check) => check.expression);
  const domain = { name: tableId(row.nspname, row.typname), notNull: row.typnotnull, checks };
  return { ...base, domains: [domain, ...base.domains] };
}

/** The modifier of an array is that of its elements: `varchar(10)[]`. */
function buildArray(types: TypesByOid, element: string, row: TypeRow, typmod: number): ColumnType {
  return {
    ...plainType('array', baseName(row)),
    category: 'array',
    element: buildColumnType(types, element, typmod),
  };
}

function buildScalar(row: TypeRow, typmod: number): ColumnType {
  const base = baseName(row);
  if (row.typtype === 'e') {
    return {
      ...plainType('enum', base),
      category: 'enum',
      enum: tableId(row.nspname, row.typname),
      values: row.labels,
    };
  }
  const category = categoryOf(row);
  if (category !== 'base') return { ...plainType(portableExtension(row.extension, row.typname), base), category };
  return { ...plainType(portableBuiltIn(row.typname), base), category, ...limitsOf(row.typname, typmod) };
}

function categoryOf(row: TypeRow): ColumnType['category'] {
  switch (row.typtype) {
    case 'r':
      return 'range';
    case 'm':
      return 'multirange';
    case 'c':
      return 'composite';
    default:
      return row.nspname === 'pg_catalog' ? 'base' : 'extension';
  }
}

function baseName(row: TypeRow): string {
  return row.nspname === 'pg_catalog' ? row.typname : tableId(row.nspname, row.typname);
}

function plainType(portable: PortableType, base: string): Omit<ColumnType, 'category'> {
  return {
    portable,
    base,
    domains: [],
    element: null,
    enum: null,
    values: null,
    maxLength: null,
    precision: null,
    scale: null,
  };
}
