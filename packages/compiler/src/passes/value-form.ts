/**
 * Type of a column → how a value is compared and how it arrives, where rows have no binary form of their types.
 *
 * Every value is selected as text or bytes, in the form the API promises. A value within a nested row is part of one
 * text there. Where nothing is nested, the runtime formats some by itself (`docs/decisions/sql-dialects.md`). `{}`
 * stands for the expression that is cast. Types of parameters have the names that all dialects share; the runtime's
 * dialect knows what they are here. Source: API specification, section 6.
 */
import type { Column, ColumnType } from '@tablewright/introspect/schema';
import {
  type ColumnForm,
  castToText,
  castToTime,
  type PortableType,
  quoteName,
  quoteQualified,
  splitQualified,
  types,
  unsignedNatives,
  type WireForm,
  type WireKind,
} from '@tablewright/runtime/language';
import { compositeForm, isComposite, type NativeForm } from './composite-form.ts';
import { geometryTextForm, pgvectorForm, postgisForm, vectorTextForm } from './geometry-form.ts';

/** Zeros that a column is filled with to its width are no part of the number, nor are three of the four of year 0. */
const unpadded = 'CAST({} + 0 AS CHAR)';

/** The server writes a float with six digits; where these are another number, all digits are needed. */
const single = 'IF(CAST(CAST({} AS CHAR) AS FLOAT) = {}, CAST({} AS CHAR), CAST(CAST({} AS DOUBLE) AS CHAR))';

/** The form of a column, read as `portable`, which differs from the type's own where configured. */
export function textForm(column: Column, portable: PortableType, hasReferences: boolean, keeps = false): NativeForm {
  if (portable === 'hash' || portable === 'secret' || portable === 'token') return text(column, 'masked');
  const { base, precision } = column.type;
  if (portable === 'csv') return { ...text(column, 'csv'), ...(base === 'set' && { native: base }) };
  const fraction = (precision ?? 0) > 0;
  const usual = types[column.type.portable].forms.text;
  switch (column.type.portable) {
    case 'integer':
      return {
        native: unsignedNatives.get(base) ?? (base === 'smallint' ? 'int2' : usual.native),
        // The text 0 would be the year 2000.
        ...(base === 'year' && { stored: 'CAST({} AS SIGNED)' }),
        wire: numberForm(column, usual),
      };
    case 'bigInteger':
      return { native: unsignedNatives.get(base) ?? usual.native, wire: numberForm(column, usual) };
    case 'decimal':
      return { native: decimalNative(column.type, usual.native), wire: numberForm(column, usual) };
    case 'time':
      return fraction ? { ...usual, wire: { kind: 'text', cast: trimmed(castToText) } } : usual;
    case 'dateTime':
      return fraction ? { ...usual, wire: { kind: 'text', cast: fractional } } : usual;
    case 'timestamp':
      return fraction ? { ...usual, wire: { kind: 'text', cast: `CONCAT(${fractional}, '+00:00')` } } : usual;
    case 'float':
      return base.startsWith('float') ? { native: 'float4', wire: { ...usual.wire, cast: single } } : usual;
    case 'boolean':
    case 'date':
    case 'uuid':
    case 'json':
      return usual;
    case 'geometry':
      return geometryTextForm(column, hasReferences, keeps);
    case 'vector':
      return vectorTextForm(column.type);
    case 'binary':
      return bytes(column, usual);
    case 'string':
    case 'text':
    case 'enum':
      return text(column, 'text');
    default:
      return usual;
  }
}

function numberForm({ nativeType }: Column, { wire }: ColumnForm): WireForm {
  return /\bzerofill\b|^year\b/i.test(nativeType) ? { ...wire, cast: unpadded } : wire;
}

/** Digits of a decimal at most, and those of them behind the point that are usually compared. */
const decimalDigits = { all: 65, behind: 30 } as const;

/** Type of values beside a decimal: one that cuts no digit of the column, where the usual one would. */
function decimalNative({ precision, scale }: ColumnType, usual: string): string {
  const { all, behind } = decimalDigits;
  const whole = (precision ?? 0) - (scale ?? 0);
  const compared = whole > all - behind ? all - whole : Math.max(behind, scale ?? 0);
  return compared === behind ? usual : `${usual}(${all},${compared})`;
}

/** Fractions of a second without zeros at their end, and without a point where nothing is left. */
function trimmed(value: string): string {
  return `TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM ${value}))`;
}

const fractional = trimmed(castToTime.replace('%s', '%s.%f'));

/** Characters of another set are compared, and put beside others, in the one of the connection. */
function text(column: Column, kind: WireForm['kind']): NativeForm {
  const { collation } = column;
  if (collation === null) return { native: 'text', comparison: castToText, wire: { kind, cast: castToText } };
  // Characters that another set does not have become question marks, so what is found is compared by its characters, too.
  const [set = ''] = collation.split('_');
  const collated = `CONVERT({} USING ${set}) COLLATE ${collation}`;
  if (set === 'utf8mb4') return { native: 'text', collated, wire: { kind } };
  const cast = 'CONVERT({} USING utf8mb4)';
  return { native: 'text', comparison: cast, collated, wire: { kind, cast } };
}

/** The bits of a number as bytes, the first filled up with zeros. */
function bytes({ type, nativeType }: Column, usual: NativeForm): NativeForm {
  const [, width] = /^bit\((\d+)\)/i.exec(nativeType) ?? [];
  if (type.base !== 'bit' || width === undefined) return usual;
  // A cast, because what a function makes takes the character set of the texts beside it in a record.
  const cast = `CAST(UNHEX(LPAD(HEX({} + 0), ${2 * Math.ceil(Number(width) / 8)}, '0')) AS BINARY)`;
  return { ...usual, comparison: cast, wire: { ...usual.wire, cast } };
}

/** One row per type of `pg_catalog` that has a form of its own; any other is text in every respect. */
interface Row {
  readonly kind: WireKind;
  readonly native?: string;
  readonly cast?: string;
  readonly comparison?: string;
}

const rows: ReadonlyMap<string, Row> = new Map<string, Row>([
  ['bool', { kind: 'bool' }],
  ['int2', { kind: 'i2' }],
  ['int4', { kind: 'i4' }],
  ['int8', { kind: 'i8' }],
  ['float4', { kind: 'number', cast: '::text' }],
  ['float8', { kind: 'number', cast: '::text' }],
  ['numeric', { kind: 'text', cast: '::text' }],
  // Neither the text of money nor its reading is free of the server's locale; numeric's are.
  ['money', { kind: 'text', cast: '::numeric::text', native: 'numeric', comparison: '::numeric' }],
  ['text', { kind: 'text' }],
  ['varchar', { kind: 'text', native: 'text' }],
  // A parameter of type text would make the padding of the column count.
  ['bpchar', { kind: 'text' }],
  ['name', { kind: 'text', native: 'text' }],
  // The cast to text adds "/32"; the one to name prints what the type itself prints.
  ['inet', { kind: 'text', cast: '::name::text', native: 'text', comparison: '::name::text' }],
  ['json', { kind: 'json' }],
  ['jsonb', { kind: 'jsonb' }],
  ['uuid', { kind: 'uuid' }],
  ['bytea', { kind: 'bytes' }],
  ['date', { kind: 'date' }],
  ['time', { kind: 'time' }],
  ['timetz', { kind: 'text', cast: '::text' }],
  ['timestamp', { kind: 'timestamp' }],
  ['timestamptz', { kind: 'timestamptz' }],
  ['interval', { kind: 'text', cast: '::text' }],
]);

const asText: Row = { kind: 'text', cast: '::text', native: 'text', comparison: '::text' };

/**
 * The form of a column of this type, read as `portable`, which differs from the type's own where configured.
 *
 * Native type → how a value is compared and how it arrives.
 *
 * Types whose binary form the runtime reads are selected as they are. All others are selected as text, because the
 * server's own output is the form the API promises. Domains are cast to their base, so that an array or a row never
 * carries a domain's type. Source: API specification, section 6.
 */
export function nativeForm(type: ColumnType, portable: PortableType, keeps = false): NativeForm {
  if (portable === 'geometry') return postgisForm(type, keeps);
  if (portable === 'vector') return pgvectorForm(type);
  if (portable === type.portable && isComposite(type))
    return compositeForm(type, (member) => nativeForm(member, member.portable));
  const form = readForm(type, portable);
  // A value of an unknown type is never written.
  const isText = portable !== 'unknown' && /^text(?:\[\])?$/.test(form.native);
  // A key of money is found as what it is: its index has no numbers.
  const stored = isText || form.native === 'numeric' ? storedType(type) : undefined;
  return stored === undefined ? form : { ...form, stored };
}

function readForm(type: ColumnType, portable: PortableType): NativeForm {
  if (portable === 'hash' || portable === 'secret' || portable === 'token') return textOnly('masked');
  if (portable === 'csv') return textOnly('csv');
  return type.category === 'array' && type.element ? arrayForm(type, type.element) : scalarForm(type);
}

/** Types to which a text or a number is assigned as it is; every other one reads it only when told to. */
const assigned: ReadonlySet<string> = new Set(['text', 'varchar', 'bpchar', 'name', 'numeric']);

function storedType(type: ColumnType): string | undefined {
  if (type.category === 'array') {
    const element = type.element === null ? undefined : storedType(type.element);
    return element === undefined ? undefined : `${element}[]`;
  }
  if (assigned.has(type.base)) return undefined;
  const { schema, name } = splitQualified(type.enum ?? type.base);
  return name === '' ? `pg_catalog.${quoteName(schema)}` : quoteQualified(schema, name);
}

function textOnly(kind: WireKind): NativeForm {
  return { native: 'text', comparison: '::text', wire: { kind, cast: '::text' } };
}

function scalarForm(type: ColumnType): NativeForm {
  const row = rowOf(type);
  const native = row.native ?? typeName(type);
  const cast = row.cast ?? (type.domains.length > 0 ? `::${typeName(type)}` : undefined);
  // A domain over an enum has no operators of its own, and finds those of the enum only as that type.
  const comparison = row.comparison ?? (type.enum === null ? undefined : cast);
  return { native, ...(comparison && { comparison }), wire: { kind: row.kind, ...(cast && { cast }) } };
}

/** The casts of the elements with `[]` after each step: `::numeric::text` becomes `::numeric[]::text[]`. */
function arrayForm(type: ColumnType, element: ColumnType): NativeForm {
  const row = rowOf(element);
  const isDomain = type.domains.length > 0 || element.domains.length > 0;
  const cast = row.cast?.replaceAll(/::(\w+)/g, '::$1[]') ?? (isDomain ? `::${typeName(element)}[]` : undefined);
  const native = `${row.cast && row.native ? row.native : typeName(element)}[]`;
  return { native, wire: { kind: row.kind, array: true, ...(cast && { cast }) } };
}

function rowOf(type: ColumnType): Row {
  if (type.category === 'enum') return { kind: 'text' };
  return (type.category === 'base' ? rows.get(type.base) : undefined) ?? asText;
}

/** The type's own name, ready for SQL. Built-in names need no qualification: `pg_catalog` is always searched first. */
function typeName(type: ColumnType): string {
  if (type.enum !== null) {
    const { schema, name } = splitQualified(type.enum);
    return quoteQualified(schema, name);
  }
  return type.category === 'base' && rows.has(type.base) ? type.base : 'text';
}
