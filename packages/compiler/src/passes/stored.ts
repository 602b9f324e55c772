/** Facts of the database about tables, columns and foreign keys, as far as the model endpoints report them. */
import type { Collection, Column, Relation, Table } from '@tablewright/introspect/schema';
import type { ConstantDefault, JsonValue, PortableType } from '@tablewright/runtime/language';
import type { StoredColumn, StoredKey, StoredTable } from '../api.ts';

/** Takes the facts of a collection's table. */
export function storedTable({ archive: archiveRule }: Collection, { name, schema, comment, kind }: Table): StoredTable {
  const view = kind === 'view' || kind === 'materializedView';
  return { name, schema, comment, kind: view ? 'view' : 'table', archive: archiveRule };
}

/** Takes the facts of a field's column. */
export function storedColumn(table: Table, column: Column): StoredColumn {
  const { name, nativeType, type, fill, nullable, comment } = column;
  const keys = [...(table.primaryKey === null ? [] : [table.primaryKey]), ...table.uniques];
  return {
    name,
    // The modifiers have members of their own.
    dataType: nativeType.replace(/\((?:'(?:[^']|'')*'|[^()'])*\)/, ''),
    type: type.portable,
    default: defaultOf(column),
    maxLength: type.maxLength ?? sizeOf(column),
    precision: type.precision,
    scale: type.scale,
    nullable,
    unique: keys.some(({ columns }) => columns.length === 1 && columns[0] === name),
    generated: fill.kind === 'generated',
    numbered: fill.kind === 'identity' || fill.kind === 'serial',
    comment,
  };
}

/** Bytes of a column of bytes, or its bits; null where it has no limit. */
function sizeOf({ nativeType, type }: Column): number | null {
  const [, digits] = /\((\d+)\)/.exec(type.portable === 'binary' ? nativeType : '') ?? [];
  return digits === undefined ? null : Number(digits);
}

function defaultOf(column: Column): StoredColumn['default'] {
  const { fill, type } = column;
  if (fill.kind !== 'default') return null;
  const text = constantDefault(column)?.text;
  const bytes = type.portable === 'binary' ? bytesOf(text ?? fill.expression, sizeOf(column)) : undefined;
  if (bytes !== undefined) return { value: bytes.toString('base64') };
  if (type.base === 'bit(1)') return { value: fill.expression.includes('1') };
  return text === undefined ? { expression: fill.expression } : { value: typed(text, type.portable) };
}

/** Reads bytes as servers write them: `\x6162`, `0x6162`, `X'6162'`; or so many bits, `b'101'`. */
function bytesOf(written: string, size: number | null): Buffer | undefined {
  const [, hex] = /^(?:\\x|0x|X')((?:[\da-f]{2})*)'?$/i.exec(written) ?? [];
  const [, bits] = /^b'([01]+)'$/.exec(written) ?? [];
  const width = 2 * Math.ceil((size ?? 0) / 8);
  const digits = bits === undefined ? hex : BigInt(`0b${bits}`).toString(16).padStart(width, '0');
  return digits === undefined ? undefined : Buffer.from(digits, 'hex');
}

/** Numbers that JSON holds exactly, booleans and JSON, as what they are; all else as text. */
function typed(text: string, type: PortableType): JsonValue {
  if (type === 'boolean') return text === 'true' || text === 't' || text === '1';
  if (type === 'json') return isHuge.test(text) ? text : parsedJson(text);
  const number = Number(text);
  return (type === 'integer' || type === 'float') && Number.isFinite(number) ? number : text;
}

/** Digits of a number that JSON does not hold exactly. */
const isHuge = /\d{16}/;

/** A column of texts that is declared as JSON may have a default that is none. */
function parsedJson(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Takes the facts of the foreign key behind a many-to-one; null for every other relation, and where there is none. */
export function storedKey(relation: Relation, table: Table, target: Table): StoredKey | null {
  const key = relation.kind === 'm2o' ? table.foreignKeys.find(({ name }) => name === relation.foreignKey) : undefined;
  if (key === undefined) return null;
  return {
    name: key.name,
    table: table.name,
    columns: key.columns,
    targetTable: target.name,
    targetColumns: key.targetColumns,
    onUpdate: key.onUpdate,
    onDelete: key.onDelete,
  };
}

const quoted = /^(E?)'((?:[^']|'')*)'(?:::[\w ".,()[\]]+)?$/;
const bare = /^(?:-?\d+(?:\.\d+)?|true|false)$/;

/**
 * The default of a column when it is a constant. Undefined for expressions that must be computed: a read never does
 * that, because they may have effects.
 *
 * Constants are printed as `5`, `true`, `'text'::type`, and `E'a\\b'::type` when there is a backslash.
 */
export function constantDefault({ fill, nativeType, type }: Column): ConstantDefault | undefined {
  if (fill.kind !== 'default') return undefined;
  // The modifier of an extension's type has a spelling that only the extension knows.
  if (type.category === 'extension' && nativeType.endsWith(')')) return undefined;
  const text = bare.test(fill.expression) ? fill.expression : quotedText(fill.expression);
  return text === undefined ? undefined : { text, type: nativeType };
}

function quotedText(expression: string): string | undefined {
  const [, escapes, inner] = quoted.exec(expression) ?? [];
  const text = inner?.replaceAll("''", "'");
  return escapes === 'E' ? text?.replaceAll('\\\\', '\\') : text;
}
