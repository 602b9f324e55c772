/**
 * Type of a column → how a value is compared and how it arrives, where rows have no binary form of their types.
 *
 * Every value is selected as text or bytes, in the form the API promises. A value within a nested row is part of one
 * text there. Where nothing is nested, the runtime formats some by itself (`docs/decisions/sql-dialects.md`). `{}`
 * stands for the expression that is cast. Types of parameters have the names that all dialects share; the runtime's
 * dialect knows what they are here. Source: API specification, section 6.
 */
import type { Column } from '@tablewright/introspect/schema';
import {
  type ColumnForm,
  castToText,
  castToTime,
  type PortableType,
  types,
  unsignedInteger,
  type WireForm,
} from '@tablewright/runtime/language';
import type { NativeForm } from './composite-form.ts';
import { geometryTextForm, vectorTextForm } from './geometry-form.ts';

/** Zeros that a column is filled with to its width are no part of the number. */
const unpadded = 'CAST({} + 0 AS CHAR)';

/** Integers whose limits differ from those of 32 bits, as far as they are known before the server is asked. */
const integers: ReadonlyMap<string, string> = new Map([
  ['smallint', 'int2'],
  ['int unsigned', unsignedInteger],
]);

/** The form of a column, read as `portable`, which differs from the type's own where configured. */
export function textForm(column: Column, portable: PortableType, hasReferences: boolean, keeps = false): NativeForm {
  if (portable === 'hash' || portable === 'secret' || portable === 'token') return text(column, 'masked');
  if (portable === 'csv') return text(column, 'csv');
  const { base, precision } = column.type;
  const fraction = (precision ?? 0) > 0;
  const usual = types[column.type.portable].forms.text;
  switch (column.type.portable) {
    case 'integer':
      return { native: integers.get(base) ?? usual.native, wire: numberForm(column, usual) };
    case 'bigInteger':
      return { native: base.endsWith('unsigned') ? 'uint8' : usual.native, wire: numberForm(column, usual) };
    case 'decimal':
      return { ...usual, wire: numberForm(column, usual) };
    case 'time':
      return fraction ? { ...usual, wire: { kind: 'text', cast: trimmed(castToText) } } : usual;
    case 'dateTime':
      return fraction ? { ...usual, wire: { kind: 'text', cast: fractional } } : usual;
    case 'timestamp':
      return fraction ? { ...usual, wire: { kind: 'text', cast: `CONCAT(${fractional}, '+00:00')` } } : usual;
    case 'float':
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
      return { ...usual, wire: bytes(column) };
    case 'string':
    case 'text':
    case 'enum':
      return text(column, 'text');
    default:
      return usual;
  }
}

function numberForm({ nativeType }: Column, { wire }: ColumnForm): WireForm {
  return /\bzerofill\b/i.test(nativeType) ? { ...wire, cast: unpadded } : wire;
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
function bytes({ type, nativeType }: Column): WireForm {
  const [, width] = /^bit\((\d+)\)/i.exec(nativeType) ?? [];
  if (type.base !== 'bit' || width === undefined) return { kind: 'bytes' };
  return { kind: 'bytes', cast: `UNHEX(LPAD(HEX({} + 0), ${2 * Math.ceil(Number(width) / 8)}, '0'))` };
}
