import { type PortableType, quoteLiteral } from '@tablewright/runtime/language';
import { sortedBy } from '../order.ts';
import type { Check, Column, ColumnFill, ColumnType } from '../schema.ts';
import type { CheckRow, ColumnRow, MysqlDialect } from './catalog.ts';

/** Builds the columns of one table, in the order in which it names them. */
export function buildColumns(
  dialect: MysqlDialect,
  rows: readonly ColumnRow[],
  checks: readonly CheckRow[],
  isWritable: boolean,
): readonly Column[] {
  const lists = checks.flatMap((check) => allowedOf(check, rows) ?? []);
  const json = new Set(checks.flatMap((check) => jsonColumn(check) ?? []));
  return [...rows]
    .sort((left, right) => left.ordinal_position - right.ordinal_position)
    .map((row) => buildColumn(dialect, row, json.has(row.column_name), isWritable))
    .map((column) => ({ ...column, type: { ...column.type, values: valuesOf(column, lists) } }));
}

/** The values that all lists of a column allow, in the order of the first; those of the type where it has some. */
function valuesOf({ name, type }: Column, lists: readonly NonNullable<Check['allowed']>[]): readonly string[] | null {
  if (type.values !== null) return type.values;
  const [first, ...rest] = lists.flatMap(({ column, values }) => (column === name ? [values] : []));
  return first?.filter((value) => rest.every((list) => list.includes(value))) ?? null;
}

/** The column that a check confines to JSON: MariaDB's form of its alias `json`. */
function jsonColumn({ check_clause: clause }: CheckRow): string | undefined {
  return /^\(*json_valid\(`((?:[^`]|``)+)`\)\)*$/i.exec(clause.trim())?.[1]?.replaceAll('``', '`');
}

function buildColumn(dialect: MysqlDialect, row: ColumnRow, isJson: boolean, isWritable: boolean): Column {
  const fill = fillOf(dialect, row);
  const folds = row.collation_name !== null && !isExact(row.collation_name);
  return {
    name: row.column_name,
    nativeType: row.column_type,
    type: columnType(row, isJson),
    nullable: row.is_nullable === 'YES',
    fill,
    collation: row.collation_name,
    ...(folds && !isJson && { folds: true as const }),
    comment: row.column_comment === '' ? null : row.column_comment,
    source: null,
    updatable: isWritable && fill.kind !== 'generated',
  };
}

function fillOf(dialect: MysqlDialect, row: ColumnRow): ColumnFill {
  const { extra, generation_expression: generationExpression, column_default: text } = row;
  if (generationExpression !== null && generationExpression !== '') {
    return {
      kind: 'generated',
      expression: defaultExpression(wholeTexts(generationExpression, dialect), dialect),
      stored: /\b(?:STORED|PERSISTENT)\b/i.test(extra),
    };
  }
  if (/\bauto_increment\b/i.test(extra)) return { kind: 'identity', always: false };
  if (text === null || (dialect === 'mariadb' && text === 'NULL')) return { kind: 'none' };
  const isExpression = dialect === 'mariadb' || isGenerated(row);
  const sql = isExpression ? defaultExpression(wholeTexts(text, dialect), dialect) : text;
  return { kind: 'default', expression: isExpression || isConstant(row, text) ? sql : quoteLiteral(text) };
}

/** True if MySQL reports a default as an expression, and not as the text of a constant. */
export function isGenerated({ extra }: ColumnRow): boolean {
  return /\bDEFAULT_GENERATED\b/i.test(extra);
}

/** Expressions with whole texts: MySQL reports each of their bytes as a character of its own. Names are whole already. */
export function wholeTexts(sql: string, dialect: MysqlDialect): string {
  if (dialect !== 'mysql') return sql;
  return sql.replaceAll(/`(?:[^`]|``)*`|[\x80-\xff]+/g, (part) => {
    if (part.startsWith('`')) return part;
    const text = Buffer.from(part, 'latin1').toString();
    return text.includes('\ufffd') ? part : text;
  });
}

/** MySQL gives only the text of a constant; numbers, bits and bytes are that all the same. */
function isConstant({ data_type: type }: ColumnRow, text: string): boolean {
  if (/^(?:bit|binary|varbinary)$/i.test(type)) return /^(?:b'[01]+'|0x(?:[\da-f]{2})+)$/i.test(text);
  return /int$|^(?:decimal|double|float|year)$/i.test(type) && /^-?\d+(?:\.\d+)?$/.test(text);
}

/** The checks of one table, by name. Their values are known where the collation of the column does not decide them. */
export function buildChecks(rows: readonly CheckRow[], columns: readonly ColumnRow[]): readonly Check[] {
  return sortedBy(rows, (row) => row.constraint_name).map((row) => ({
    name: row.constraint_name,
    expression: row.check_clause,
    columns: columns.map(({ column_name: name }) => name).filter((name) => row.check_clause.includes(quoted(name))),
    allowed: allowedOf(row, columns),
  }));
}

export function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

/** True if a collation distinguishes every two texts; most ignore case, accents, or blanks at the end. */
function isExact(collation: string): boolean {
  return collation === 'binary' || /_(?:nopad|0900)_bin$/.test(collation);
}

/** `` `a` in ('x','y') `` as MariaDB prints it; MySQL names the character set and escapes the quotes. */
const listed = /^\(*`((?:[^`]|``)+)`\)* in \(((?:(?:_\w+)?\\?'(?:[^'\\]|'')*\\?'(?:,\s*)?)+)\)+$/i;

/** The column and the values of a check that is nothing but a list. */
export function allowedOf({ check_clause: clause }: CheckRow, columns: readonly ColumnRow[]): Check['allowed'] {
  const [, quoted, list] = listed.exec(clause.trim()) ?? [];
  const name = quoted?.replaceAll('``', '`');
  const column = columns.find((row) => row.column_name === name);
  // MariaDB reports a character of four bytes so: only the check itself knows it.
  if (list === undefined || list.includes('????')) return null;
  if (column?.collation_name == null || !isExact(column.collation_name)) return null;
  const texts = [...list.matchAll(/\\?'((?:[^'\\]|'')*)\\?'/g)].map(([, text = '']) => text.replaceAll("''", "'"));
  return { column: column.column_name, values: texts };
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', 0: '\0', Z: '\x1a' };

/**
 * The expression of a default, or of a generated column. A text becomes a literal whose only escape is the doubled quote: MariaDB writes others with
 * a backslash, and MySQL writes every quote and backslash of an expression so once more. Within other expressions quotes
 * are doubled, too, since nothing that looks for the ends of texts in SQL knows the other form.
 */
export function defaultExpression(reported: string, dialect: MysqlDialect): string {
  const sql = dialect === 'mysql' ? reported.replaceAll(/\\([\\'])/g, '$1') : reported;
  const [, inner] = /^(?:_\w+)?'((?:[^'\\]|\\.|'')*)'$/s.exec(sql) ?? [];
  if (inner !== undefined) return quoteLiteral(inner.replaceAll(/\\(.)|''/gs, unescaped));
  return sql.replaceAll(/\\./gs, (pair) => (pair === "\\'" ? "''" : pair));
}

function unescaped(written: string, escaped: string | undefined): string {
  return escaped === undefined ? written.slice(1) : (escapes[escaped] ?? escaped);
}

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
    values: kind === 'enum' || kind === 'set' ? (row.labels ?? labelsOf(row.column_type)) : null,
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

/** The labels of `enum('a','it''s')` in their order. Backslashes, line breaks and nulls are escaped. */
export function labelsOf(columnTypeText: string): readonly string[] {
  const labels = columnTypeText.matchAll(/'((?:[^']|'')*)'/g);
  return [...labels].map(([, label = '']) => label.replaceAll(/\\(.)|''/gs, unescaped));
}
