import type { Column, ColumnType } from '@tablewright/introspect/schema';
import { expect, test } from 'vitest';
import { columnOf, typeOf } from '../testing/build-schema.ts';
import { textForm } from './value-form.ts';

const column = (type: ColumnType, more: Partial<Column> = {}): Column => columnOf('c', type, more);

test('a number without sign has parameters that reach as far', () => {
  expect(textForm(column(typeOf('bigint unsigned', 'bigInteger')), 'bigInteger', true).native).toBe('uint8');
  expect(textForm(column(typeOf('bigint', 'bigInteger')), 'bigInteger', true).native).toBe('int8');
  expect(textForm(column(typeOf('int unsigned', 'integer')), 'integer', true).native).toBe('uint4');
});

test('a number of four bytes has the form of such, also without sign', () => {
  const form = (base: string) => textForm(column(typeOf(base, 'float')), 'float', true);
  expect(form('float unsigned')).toEqual(form('float'));
  expect(form('double unsigned')).toEqual(form('double'));
});

test('a number that is filled with zeros is read without them', () => {
  const padded = column(typeOf('int unsigned', 'integer'), { nativeType: 'int(5) unsigned zerofill' });
  expect(textForm(padded, 'integer', true).wire.cast).toBe('CAST({} + 0 AS CHAR)');
  const year = column(typeOf('year', 'integer'), { nativeType: 'year(4)' });
  expect(textForm(year, 'integer', true).wire.cast).toBe('CAST({} + 0 AS CHAR)');
});

test.each([
  [10, 2, 'numeric'],
  [65, 30, 'numeric'],
  [40, 0, 'numeric(65,25)'],
  [65, 0, 'numeric(65,0)'],
  [60, 38, 'numeric(65,38)'],
])('decimals of %i digits, %i of them behind the point, are compared with all digits', (precision, scale, native) => {
  const type = { ...typeOf('decimal', 'decimal'), precision, scale };
  expect(textForm(column(type), 'decimal', true).native).toBe(native);
});

test('only characters of another set are converted', () => {
  const text = (collation: string) => textForm(column(typeOf('varchar', 'string'), { collation }), 'string', true);
  expect(text('utf8mb4_general_ci')).toEqual({
    native: 'text',
    collated: 'CONVERT({} USING utf8mb4) COLLATE utf8mb4_general_ci',
    wire: { kind: 'text' },
  });
  expect(text('latin1_swedish_ci').comparison).toBe('CONVERT({} USING utf8mb4)');
});

test('fractions of a second are looked for only where there can be some', () => {
  const moment = (precision: number) =>
    textForm(column({ ...typeOf('datetime', 'dateTime'), precision }), 'dateTime', true).wire.cast;
  expect(moment(0)).toBe("DATE_FORMAT({}, '%Y-%m-%dT%H:%i:%s')");
  expect(moment(3)).toContain('%f');
});

test('bits are as many bytes as they need', () => {
  const bits = column(typeOf('bit', 'binary'), { nativeType: 'bit(12)' });
  expect(textForm(bits, 'binary', true).wire.cast).toBe("CAST(UNHEX(LPAD(HEX({} + 0), 4, '0')) AS BINARY)");
});

test('vectors of MariaDB are read and written as their text, and have two metrics', () => {
  const type = { ...typeOf('vector', 'vector'), vector: { dimensions: 3, half: false, iterative: false } };
  expect(textForm(column(type), 'vector', false)).toEqual({
    native: 'text',
    stored: 'VEC_FromText({})',
    wire: { kind: 'json', cast: 'VEC_ToText({})' },
    vector: { dimensions: 3, metric: 'cosine', metrics: ['cosine', 'l2'] },
  });
});
