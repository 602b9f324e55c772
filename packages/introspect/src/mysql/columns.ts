import { sortedBy } from '../order.ts';
import type { Check, Column, ColumnFill } from '../schema.ts';
import type { CheckRow, ColumnRow, MysqlDialect } from './catalog.ts';
import { columnType } from './types.ts';

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
    return { kind: 'generated', expression: generationExpression, stored: /\b(?:STORED|PERSISTENT)\b/i.test(extra) };
  }
  if (/\bauto_increment\b/i.test(extra)) return { kind: 'identity', always: false };
  if (text === null || (dialect === 'mariadb' && text === 'NULL')) return { kind: 'none' };
  const isSql = dialect === 'mariadb' || /\bDEFAULT_GENERATED\b/i.test(extra) || isNumber(row, text);
  return { kind: 'default', expression: isSql ? defaultExpression(text) : textLiteral(text) };
}

/** MySQL gives only the text of a constant; a number is a number all the same. */
function isNumber({ data_type: type }: ColumnRow, text: string): boolean {
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

function quoted(name: string): string {
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
  if (list === undefined || column?.collation_name == null || !isExact(column.collation_name)) return null;
  const texts = [...list.matchAll(/\\?'((?:[^'\\]|'')*)\\?'/g)].map(([, text = '']) => text.replaceAll("''", "'"));
  return { column: column.column_name, values: texts };
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', 0: '\0', Z: '\x1a' };

/**
 * The expression of a default. A text becomes a literal whose only escape is the doubled quote: MariaDB writes others with
 * a backslash, and MySQL writes all of `_utf8mb4'…'` so once more.
 */
export function defaultExpression(reported: string): string {
  const sql = /^_\w+\\'/.test(reported) ? reported.replaceAll(/\\([\\'])/g, '$1') : reported;
  const [, inner] = /^(?:_\w+)?'((?:[^'\\]|\\.|'')*)'$/s.exec(sql) ?? [];
  return inner === undefined ? sql : textLiteral(inner.replaceAll(/\\(.)|''/gs, unescaped));
}

/** A text between quotes. */
function textLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function unescaped(written: string, escaped: string | undefined): string {
  return escaped === undefined ? written.slice(1) : (escapes[escaped] ?? escaped);
}
