import type { PortableType } from '@tablewright/runtime/language';
import { sortedBy } from '../order.ts';
import type { ColumnType, EnumType } from '../schema.ts';
import { tableId } from '../table-names.ts';
import type { Catalog, DomainCheck, TypeRow } from './catalog.ts';

export type TypesByOid = ReadonlyMap<string, TypeRow>;

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

/** Arrays within each other, by domains over arrays, that have a portable form; PostgreSQL has no limit. */
const deepestArray = 8;

/** Resolves a type: domains to their base, arrays to their element. Unlisted and too deep ones are unknown. */
export function buildColumnType(types: TypesByOid, oid: string, typmod: number, depth = 0): ColumnType {
  const domains = domainsOf(types, oid);
  // A domain's own modifier counts, the innermost first; the column of a domain has none.
  const modifier = domains.findLast((row) => row.typtypmod >= 0)?.typtypmod ?? typmod;
  const row = types.get(domains.at(-1)?.typbasetype ?? oid);
  return { ...buildBase(types, row, modifier, depth), domains: domains.map(buildDomain) };
}

/** The checks of a domain and of the domains it is made of; empty for any other type. */
export function domainChecksOf(types: TypesByOid, oid: string): readonly DomainCheck[] {
  return domainsOf(types, oid).flatMap((row) => sortedBy(row.checks ?? [], (check) => check.conname));
}

/** A domain and those that it is made of, the outermost first; empty for any other type. */
function domainsOf(types: TypesByOid, oid: string): readonly TypeRow[] {
  const domains: TypeRow[] = [];
  for (let row = types.get(oid); row?.typtype === 'd'; row = types.get(row.typbasetype)) domains.push(row);
  return domains;
}

function buildDomain(row: TypeRow): ColumnType['domains'][number] {
  const checks = sortedBy(row.checks ?? [], (check) => check.conname).map((check) => check.expression);
  return { name: tableId(row.nspname, row.typname), notNull: row.typnotnull, checks };
}

/** The modifier of an array is that of its elements: `varchar(10)[]`. */
function buildBase(types: TypesByOid, row: TypeRow | undefined, typmod: number, depth: number): ColumnType {
  if (!row) return { ...plainType('unknown', 'unknown'), category: 'base' };
  if (row.typtype === 'c') return buildComposite(types, row, depth);
  if (row.element === null) return buildScalar(row, typmod);
  if (depth === deepestArray) return { ...plainType('unknown', baseName(row)), category: 'base' };
  const element = buildColumnType(types, row.element, typmod, depth + 1);
  return { ...plainType('array', baseName(row)), category: 'array', element };
}

/** Members of a composite type at most: an object of more is not made. */
const maxAttributes = 50;

/** A composite type that is a table's, has too many members, or a name with the sign for values in SQL, is unknown. */
function buildComposite(types: TypesByOid, row: TypeRow, depth: number): ColumnType {
  const members = row.attributes ?? [];
  const isNamed = ![row.nspname, row.typname, ...members.map(({ name }) => name)].some((name) => name.includes('{}'));
  const isServed = isNamed && members.length > 0 && members.length <= maxAttributes && depth < deepestArray;
  if (!isServed) return { ...plainType('unknown', baseName(row)), category: 'composite' };
  const attributes = members.map(({ name, type, typmod, nativeType }) => ({
    name,
    nativeType,
    type: buildColumnType(types, type, typmod, depth + 1),
  }));
  return { ...plainType('composite', baseName(row)), category: 'composite', attributes };
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
  if (category !== 'base') {
    const portable = portableExtension(row.extension, row.typname);
    const geometry = portable === 'geometry' && geometryOf(row.typname, typmod);
    const vector = portable === 'vector' && vectorOf(row.typname, typmod, row.extversion);
    return { ...plainType(portable, base), category, ...(geometry && { geometry }), ...(vector && { vector }) };
  }
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

/**
 * Portable types of the types in `pg_catalog`, by `typname`. Unlisted types are `unknown` and read as text. Source: API
 * specification, section 6. `name` and `"char"` are short texts in the catalogs and are served as such. `oid`, `xid`
 * and the `reg*` types identify objects within one server only: they stay unknown. So do `bit`, ranges, shapes and
 * text search, which have no portable form.
 */
const builtIn: ReadonlyMap<string, PortableType> = new Map([
  ['bpchar', 'string'],
  ['varchar', 'string'],
  ['name', 'string'],
  ['char', 'string'],
  ['inet', 'string'],
  ['cidr', 'string'],
  ['macaddr', 'string'],
  ['macaddr8', 'string'],
  ['text', 'text'],
  ['xml', 'text'],
  ['int2', 'integer'],
  ['int4', 'integer'],
  ['int8', 'bigInteger'],
  ['numeric', 'decimal'],
  ['money', 'decimal'],
  ['float4', 'float'],
  ['float8', 'float'],
  ['bool', 'boolean'],
  ['date', 'date'],
  ['time', 'time'],
  ['timetz', 'time'],
  ['timestamp', 'dateTime'],
  ['timestamptz', 'timestamp'],
  ['interval', 'interval'],
  ['uuid', 'uuid'],
  ['json', 'json'],
  ['jsonb', 'json'],
  ['bytea', 'binary'],
]);

/** The portable type of a type in `pg_catalog`. */
export function portableBuiltIn(typname: string): PortableType {
  return builtIn.get(typname) ?? 'unknown';
}

/** Types of extensions that have a portable one; any other is unknown. */
const extensions: ReadonlyMap<string, PortableType> = new Map([
  ['citext.citext', 'text'],
  ['postgis.geometry', 'geometry'],
  ['postgis.geography', 'geometry'],
  ['vector.vector', 'vector'],
  ['vector.halfvec', 'vector'],
]);

/** The portable type of a base type that an extension brought. */
export function portableExtension(extension: string | null, typname: string): PortableType {
  return extensions.get(`${extension}.${typname}`) ?? 'unknown';
}

const geometryKinds: readonly (string | null)[] = [
  null,
  'Point',
  'LineString',
  'Polygon',
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
  'GeometryCollection',
];

/** Reads the modifier of a geometry: the reference in 21 bits, the kind in 6, and two bits of dimensions. */
function geometryOf(typname: string, typmod: number): NonNullable<ColumnType['geometry']> {
  const srid = typmod < 0 ? 0 : (typmod >> 8) & 0x1fffff;
  const kind = typmod < 0 ? null : (geometryKinds[(typmod >> 2) & 0x3f] ?? null);
  return { kind, srid: srid > 0 ? srid : typname === 'geography' ? 4326 : null };
}

/** Reads the modifier of a vector, which is the number of its dimensions. From 0.8 on pgvector goes on searching. */
function vectorOf(typname: string, typmod: number, version: string | null): NonNullable<ColumnType['vector']> {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  const dimensions = typmod < 0 ? null : typmod;
  return { dimensions, half: typname === 'halfvec', iterative: major > 0 || minor >= 8 };
}

/** Limits in the modifier of a type. All null without a modifier. */
type TypeLimits = Pick<ColumnType, 'maxLength' | 'precision' | 'scale'>;

const unlimited: TypeLimits = { maxLength: null, precision: null, scale: null };

/** Size of the header that PostgreSQL adds to the modifiers of texts and numerics (`VARHDRSZ`). */
const header = 4;

/** Decodes `atttypmod` of a type in `pg_catalog`; -1 is no modifier. */
export function limitsOf(typname: string, typmod: number): TypeLimits {
  if (typname === 'name') return { ...unlimited, maxLength: 63 };
  if (typname === 'char') return { ...unlimited, maxLength: 1 };
  if (typmod < 0) return unlimited;
  switch (typname) {
    case 'varchar':
    case 'bpchar':
      return { ...unlimited, maxLength: typmod - header };
    case 'bit':
    case 'varbit':
      return { ...unlimited, maxLength: typmod };
    case 'numeric':
      return { ...unlimited, ...numericLimits(typmod - header) };
    case 'time':
    case 'timetz':
    case 'timestamp':
    case 'timestamptz':
      return { ...unlimited, precision: typmod };
    case 'interval':
      return { ...unlimited, precision: intervalPrecision(typmod) };
    default:
      return unlimited;
  }
}

/** The scale is 11 bits with sign: from version 15 `numeric(3,-2)` and `numeric(3,5)` exist. */
function numericLimits(typmod: number): { readonly precision: number; readonly scale: number } {
  return { precision: (typmod >> 16) & 0xffff, scale: ((typmod & 0x7ff) ^ 0x400) - 0x400 };
}

/** The low half is the precision, all ones when only the fields (`interval day to second`) are limited. */
function intervalPrecision(typmod: number): number | null {
  const precision = typmod & 0xffff;
  return precision === 0xffff ? null : precision;
}
