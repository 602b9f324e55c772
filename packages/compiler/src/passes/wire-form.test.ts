import type { ColumnType } from '@tablewright/introspect/schema';
import type { PortableType } from '@tablewright/runtime/language';
import { expect, test } from 'vitest';
import { arrayOf, typeOf } from '../testing/build-schema.ts';
import { nativeForm } from './value-form.ts';

const mood = typeOf('public.mood', 'enum', { category: 'enum', enum: 'public.mood' });
const inDomain = (type: ColumnType): ColumnType => ({
  ...type,
  domains: [{ name: 'public.d', notNull: false, checks: [] }],
});
const other = (category: ColumnType['category'], base: string) => typeOf(base, 'unknown', { category });

type Case = [name: string, type: ColumnType, kind: string, native: string, cast?: string, comparison?: string];

/** Each cast below was run on PostgreSQL for every type of `pg_catalog`; test/contract reads real rows of them. */
const cases: readonly Case[] = [
  ['int2', typeOf('int2', 'integer'), 'i2', 'int2'],
  ['int8', typeOf('int8', 'bigInteger'), 'i8', 'int8'],
  ['float4', typeOf('float4', 'float'), 'number', 'float4', '::text'],
  ['numeric', typeOf('numeric', 'decimal'), 'text', 'numeric', '::text'],
  ['money', typeOf('money', 'decimal'), 'text', 'numeric', '::numeric::text', '::numeric'],
  ['varchar', typeOf('varchar', 'string'), 'text', 'text'],
  ['char(n)', typeOf('bpchar', 'string'), 'text', 'bpchar'],
  ['citext', other('extension', 'public.citext'), 'text', 'text', '::text', '::text'],
  ['inet', typeOf('inet', 'string'), 'text', 'text', '::name::text', '::name::text'],
  ['enum', mood, 'text', '"public"."mood"'],
  ['uuid', typeOf('uuid', 'uuid'), 'uuid', 'uuid'],
  ['json', typeOf('json', 'json'), 'json', 'json'],
  ['jsonb', typeOf('jsonb', 'json'), 'jsonb', 'jsonb'],
  ['bytea', typeOf('bytea', 'binary'), 'bytes', 'bytea'],
  ['timetz', typeOf('timetz', 'time'), 'text', 'timetz', '::text'],
  ['interval', typeOf('interval', 'interval'), 'text', 'interval', '::text'],
  ['range', other('range', 'int4range'), 'text', 'text', '::text', '::text'],
  ['composite', other('composite', 'public.point3'), 'text', 'text', '::text', '::text'],
  ['domain of int4', inDomain(typeOf('int4', 'integer')), 'i4', 'int4', '::int4'],
  ['domain of money', inDomain(typeOf('money', 'decimal')), 'text', 'numeric', '::numeric::text', '::numeric'],
  ['domain of an enum', inDomain(mood), 'text', '"public"."mood"', '::"public"."mood"', '::"public"."mood"'],
];

test.each<Case>([...cases])('%s', (_, type, kind, native, cast, comparison) => {
  const { stored: _stored, ...form } = nativeForm(type, type.portable);
  expect(form).toEqual({
    native,
    ...(comparison && { comparison }),
    wire: { kind, ...(cast && { cast }) },
  });
});

test.each<[string, ColumnType, string, string, string?]>([
  ['text[]', arrayOf(typeOf('text', 'text')), 'text', 'text[]'],
  ['jsonb[]', arrayOf(typeOf('jsonb', 'json')), 'jsonb', 'jsonb[]'],
  ['money[]', arrayOf(typeOf('money', 'decimal')), 'text', 'numeric[]', '::numeric[]::text[]'],
  ['inet[]', arrayOf(typeOf('inet', 'string')), 'text', 'text[]', '::name[]::text[]'],
  ['enum[]', arrayOf(mood), 'text', '"public"."mood"[]'],
  ['point[]', arrayOf(typeOf('point', 'unknown')), 'text', 'text[]', '::text[]'],
  ['array of a domain', arrayOf(inDomain(typeOf('int4', 'integer'))), 'i4', 'int4[]', '::int4[]'],
  ['domain of an array', inDomain(arrayOf(typeOf('uuid', 'uuid'))), 'uuid', 'uuid[]', '::uuid[]'],
])('%s', (_, type, kind, native, cast) => {
  const { stored: _stored, ...form } = nativeForm(type, 'array');
  expect(form).toEqual({ native, wire: { kind, array: true, ...(cast && { cast }) } });
});

test.each<[string, ColumnType, string | undefined]>([
  ['varchar', typeOf('varchar', 'string'), undefined],
  ['int4', typeOf('int4', 'integer'), undefined],
  ['inet', typeOf('inet', 'string'), 'pg_catalog."inet"'],
  ['inet[]', arrayOf(typeOf('inet', 'string')), 'pg_catalog."inet"[]'],
  ['citext', typeOf('public.citext', 'text', { category: 'extension' }), '"public"."citext"'],
  ['what is never written', typeOf('int4range', 'unknown', { category: 'range' }), undefined],
])('a value of %s is stored as its own type where text is not taken for it', (_, type, stored) => {
  expect(nativeForm(type, type.portable).stored).toBe(stored);
});

test.each<[PortableType, string]>([
  ['csv', 'csv'],
  ['hash', 'masked'],
  ['secret', 'masked'],
  ['token', 'masked'],
])('text that is configured as %s', (portable, kind) => {
  const form = { native: 'text', comparison: '::text', wire: { kind, cast: '::text' } };
  expect(nativeForm(typeOf('text', 'text'), portable)).toEqual(form);
});
