import type { PortableType } from '@tablewright/runtime/language';
import type { ColumnType } from '../schema.ts';
import type { ColumnRow } from './catalog.ts';

/** Portable types by `DATA_TYPE`; unlisted types are unknown and read as text. Source: API specification, section 6. */
const portables: ReadonlyMap<string, PortableType> = new Map([
  ['tinyint', 'integer'],
  ['smallint', 'integer'],
  ['mediumint', 'integer'],
  ['int', 'integer'],
  ['year', 'integer'],
  ['bigint', 'bigInteger'],
  ['decimal', 'decimal'],
  ['float', 'float'],
  ['double', 'float'],
  ['char', 'string'],
  ['varchar', 'string'],
  ['inet4', 'string'],
  ['inet6', 'string'],
  ['tinytext', 'text'],
  ['text', 'text'],
  ['mediumtext', 'text'],
  ['longtext', 'text'],
  ['enum', 'enum'],
  ['set', 'csv'],
  ['json', 'json'],
  ['uuid', 'uuid'],
  ['date', 'date'],
  ['time', 'time'],
  ['datetime', 'dateTime'],
  ['timestamp', 'timestamp'],
  ['binary', 'binary'],
  ['varbinary', 'binary'],
  ['tinyblob', 'binary'],
  ['blob', 'binary'],
  ['mediumblob', 'binary'],
  ['longblob', 'binary'],
  ['bit', 'binary'],
  ['vector', 'vector'],
]);

/** GeoJSON types of spatial types; null: any. */
const geometries: ReadonlyMap<string, string | null> = new Map([
  ['geometry', null],
  ['point', 'Point'],
  ['linestring', 'LineString'],
  ['polygon', 'Polygon'],
  ['multipoint', 'MultiPoint'],
  ['multilinestring', 'MultiLineString'],
  ['multipolygon', 'MultiPolygon'],
  ['geometrycollection', 'GeometryCollection'],
  ['geomcollection', 'GeometryCollection'],
]);

/** Types whose length counts characters; for texts and blobs the catalog counts bytes. */
const sized: ReadonlySet<string> = new Set(['char', 'varchar']);
const timed: ReadonlySet<string> = new Set(['time', 'datetime', 'timestamp']);

/** The type of a column. `isJson`: a check allows nothing but JSON in it, which is how MariaDB has the type. */
export function columnType(row: ColumnRow, isJson: boolean): ColumnType {
  const kind = row.data_type.toLowerCase();
  const isText = sized.has(kind) || kind.endsWith('text');
  const [base, portable] =
    isJson && isText ? (['json', 'json'] as const) : ([baseOf(row, kind), portableOf(row, kind)] as const);
  const isDecimal = kind === 'decimal';
  const geometry = geometries.get(kind);
  return {
    portable,
    base,
    category: 'base',
    domains: [],
    element: null,
    enum: null,
    values: kind === 'enum' || kind === 'set' ? labelsOf(row.column_type) : null,
    maxLength: sized.has(kind) ? row.character_maximum_length : null,
    precision: isDecimal ? row.numeric_precision : timed.has(kind) ? row.datetime_precision : null,
    scale: isDecimal ? row.numeric_scale : null,
    ...(portable === 'vector' && { vector: { dimensions: sizeOf(row), half: false, iterative: false } }),
    ...(geometry !== undefined && { geometry: { kind: geometry, ...referenceOf(row) } }),
  };
}

function referenceOf({ srs_id: srid, srs_planar: planar }: ColumnRow) {
  return { srid: srid === 0 ? null : srid, ...(planar === 1 && { planar: true as const }) };
}

/** Numbers of a value of `vector(3)`. */
function sizeOf({ column_type: type }: ColumnRow): number | null {
  const [, digits] = /^vector\((\d+)\)/i.exec(type) ?? [];
  return digits === undefined ? null : Number(digits);
}

/** One digit is how both servers write a boolean, which they have no type for. */
function isBoolean({ column_type: type }: ColumnRow): boolean {
  return /^(?:tinyint\(1\)|bit\(1\))/i.test(type);
}

function portableOf(row: ColumnRow, kind: string): PortableType {
  if (geometries.has(kind)) return 'geometry';
  return isBoolean(row) ? 'boolean' : (portables.get(kind) ?? 'unknown');
}

/** The type's name; numbers without sign reach further, so their sign is part of it. */
function baseOf(row: ColumnRow, kind: string): string {
  if (isBoolean(row)) return kind === 'bit' ? 'bit(1)' : 'tinyint(1)';
  return /\bunsigned\b/i.test(row.column_type) ? `${kind} unsigned` : kind;
}

/** The labels of `enum('a','it''s')` in their order. */
function labelsOf(columnTypeText: string): readonly string[] {
  return [...columnTypeText.matchAll(/'((?:[^']|'')*)'/g)].map(([, label = '']) => label.replaceAll("''", "'"));
}
