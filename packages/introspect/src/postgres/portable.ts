import type { PortableType } from '@tablewright/runtime/language';
import type { ColumnType } from '../schema.ts';

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
export function geometryOf(typname: string, typmod: number): NonNullable<ColumnType['geometry']> {
  const srid = typmod < 0 ? 0 : (typmod >> 8) & 0x1fffff;
  const kind = typmod < 0 ? null : (geometryKinds[(typmod >> 2) & 0x3f] ?? null);
  return { kind, srid: srid > 0 ? srid : typname === 'geography' ? 4326 : null };
}

/** Reads the modifier of a vector, which is the number of its dimensions. From 0.8 on pgvector goes on searching. */
export function vectorOf(typname: string, typmod: number, version: string | null): NonNullable<ColumnType['vector']> {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  const dimensions = typmod < 0 ? null : typmod;
  return { dimensions, half: typname === 'halfvec', iterative: major > 0 || minor >= 8 };
}

/** Limits in the modifier of a type. All null without a modifier. */
interface TypeLimits {
  readonly maxLength: number | null;
  readonly precision: number | null;
  readonly scale: number | null;
}

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
