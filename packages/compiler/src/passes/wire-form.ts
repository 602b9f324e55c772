/**
 * Native type → how a value is compared and how it arrives.
 *
 * Types whose binary form the runtime reads are selected as they are. All others are selected as text, because the
 * server's own output is the form the API promises. Domains are cast to their base, so that an array or a row never
 * carries a domain's type. Source: API specification, section 6.
 */
import type { ColumnType } from '@tablewright/introspect/schema';
import type { PortableType, WireKind } from '@tablewright/runtime/language';
import { compositeForm, isComposite, type NativeForm } from './composite-form.ts';
import { pgvectorForm, postgisForm } from './geometry-form.ts';
import { quoteIdentifier, quoteQualified, splitQualified } from './quote.ts';

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

/** The form of a column of this type, read as `portable`, which differs from the type's own where configured. */
export function nativeForm(type: ColumnType, portable: PortableType, keeps = false): NativeForm {
  if (portable === 'geometry') return postgisForm(type, keeps);
  if (portable === 'vector') return pgvectorForm(type);
  if (portable === type.portable && isComposite(type))
    return compositeForm(type, (member) => nativeForm(member, member.portable));
  const form = readForm(type, portable);
  // A value of an unknown type is never written.
  const isText = portable !== 'unknown' && /^text(?:\[\])?$/.test(form.native);
  const stored = isText ? storedType(type) : undefined;
  return stored === undefined ? form : { ...form, stored };
}

function readForm(type: ColumnType, portable: PortableType): NativeForm {
  if (portable === 'hash' || portable === 'secret' || portable === 'token') return textOnly('masked');
  if (portable === 'csv') return textOnly('csv');
  return type.category === 'array' && type.element ? arrayForm(type, type.element) : scalarForm(type);
}

/** Types of text, to which a text is assigned as it is; every other one reads it only when told to. */
const texts: ReadonlySet<string> = new Set(['text', 'varchar', 'bpchar', 'name']);

function storedType(type: ColumnType): string | undefined {
  if (type.category === 'array') {
    const element = type.element === null ? undefined : storedType(type.element);
    return element === undefined ? undefined : `${element}[]`;
  }
  if (texts.has(type.base)) return undefined;
  const { schema, name } = splitQualified(type.enum ?? type.base);
  return name === '' ? `pg_catalog.${quoteIdentifier(schema)}` : quoteQualified(schema, name);
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
