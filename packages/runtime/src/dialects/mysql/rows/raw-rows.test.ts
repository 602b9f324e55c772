import { expect, it } from 'vitest';
import type { ColumnDefinition } from './columns.ts';
import { RowBytes } from './row-bytes.ts';
import { createRowWriter } from './transcode.ts';

const text: ColumnDefinition = { columnType: 253, flags: 0, name: 'text' };
const out = new RowBytes();

/** What a row comes to: the bytes of each cell, null for none. */
function written(columns: readonly ColumnDefinition[], missing: readonly number[], cells: Buffer): (Buffer | null)[] {
  const map = Buffer.alloc((columns.length + 9) >> 3);
  for (const column of missing) map[(column + 2) >> 3] = (map[(column + 2) >> 3] ?? 0) | (1 << ((column + 2) & 7));
  // Rows stand somewhere in what has been received.
  const buffer = Buffer.concat([Buffer.from('front'), Buffer.from([0]), map, cells, Buffer.from('behind')]);
  createRowWriter(columns)(out, buffer, 5);
  const found: (Buffer | null)[] = [];
  for (let at = 0; at < out.length; ) {
    const size = out.buffer.readInt32BE(at);
    found.push(size === -1 ? null : Buffer.from(out.buffer.subarray(at + 4, at + 4 + size)));
    at += 4 + Math.max(0, size);
  }
  return found;
}

it.each([
  ['tiny', 1, 0, Buffer.from([0xff]), -1n],
  ['tiny unsigned', 1, 32, Buffer.from([0xff]), 255n],
  ['small', 2, 0, Buffer.from([0x00, 0x80]), -32_768n],
  ['long', 3, 0, Buffer.from([0xfe, 0xff, 0xff, 0xff]), -2n],
  ['long unsigned', 3, 32, Buffer.from([0xff, 0xff, 0xff, 0xff]), 4_294_967_295n],
  ['medium', 9, 0, Buffer.from([0x01, 0x00, 0x00, 0x00]), 1n],
  ['longlong', 8, 0, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]), 9_223_372_036_854_775_807n],
  ['longlong, negative', 8, 0, Buffer.alloc(8, 0xff), -1n],
])('writes integers in eight bytes: %s', (_, columnType, flags, cell, expected) => {
  const [found] = written([{ columnType, flags, name: 'number' }], [], cell);
  expect(found?.readBigInt64BE()).toBe(expected);
});

it.each([0, 1, 32, 33, 250, 251, 65_535, 65_536, 20_000_000])('writes texts of %d bytes', (size) => {
  const bytes = Buffer.alloc(size, 'x');
  const length = Buffer.alloc(9);
  const head =
    size < 251
      ? Buffer.from([size])
      : size < 65_536
        ? Buffer.from([252, size & 255, size >> 8])
        : size < 2 ** 24
          ? Buffer.from([253, size & 255, (size >> 8) & 255, size >> 16])
          : length;
  if (head === length) {
    length[0] = 254;
    length.writeBigUInt64LE(BigInt(size), 1);
  }
  expect(written([text], [], Buffer.concat([head, bytes]))[0]?.equals(bytes)).toBe(true);
});

it('leaves out what is missing, also behind the first byte of the map', () => {
  const columns = Array.from({ length: 9 }, () => text);
  const found = written(columns, [0, 6, 8], Buffer.concat(Array.from('abcdef', (sign) => Buffer.from(`\x01${sign}`))));
  expect(found.map((cell) => cell?.toString() ?? null)).toEqual([null, 'a', 'b', 'c', 'd', 'e', null, 'f', null]);
});

it('turns nested values into records and lists', () => {
  const value = '[(1:7~)]';
  const nested: ColumnDefinition = { columnType: 251, flags: 0, name: 'platform: nested' };
  const [found] = written([nested], [], Buffer.from(`${String.fromCharCode(value.length)}${value}`));
  // One dimension, one element: a record of two columns, the second of which is missing.
  expect(found?.readInt32BE(0)).toBe(1);
  expect(found?.readInt32BE(24)).toBe(2);
});

const formatted = (columnType: number, name: string, cell: Buffer, flags = 0): string | undefined =>
  written([{ columnType, flags, name: `platform: ${name}` }], [], cell)[0]?.toString();

it.each([
  ['tiny', 1, 0, Buffer.from([0xff]), '-1'],
  ['small unsigned', 2, 32, Buffer.from([0xff, 0xff]), '65535'],
  ['medium', 9, 0, Buffer.from([0x01, 0x00, 0x00, 0x00]), '1'],
  ['long', 3, 0, Buffer.from([0xfe, 0xff, 0xff, 0xff]), '-2'],
  ['longlong', 8, 0, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f, 0x00]), '9007199254740991'],
  ['longlong beyond numbers', 8, 0, Buffer.from([0x01, 0, 0, 0, 0, 0, 0x20, 0x00]), '9007199254740993'],
  ['longlong, negative', 8, 0, Buffer.alloc(8, 0xff), '-1'],
  ['longlong, least', 8, 0, Buffer.from([0, 0, 0, 0, 0, 0, 0, 0x80]), '-9223372036854775808'],
  ['longlong unsigned', 8, 32, Buffer.alloc(8, 0xff), '18446744073709551615'],
  ['year', 13, 32, Buffer.from([0xe9, 0x07]), '2025'],
  ['year 0', 13, 32, Buffer.from([0x00, 0x00]), '0'],
])('spells integers: %s', (_, columnType, flags, cell, expected) => {
  expect(formatted(columnType, 'integer', cell, flags)).toBe(expected);
});

it.each([
  ['zeros', Buffer.from([0]), '0000-00-00T00:00:00'],
  ['a day', Buffer.from([4, 0xea, 0x07, 1, 2]), '2026-01-02T00:00:00'],
  ['seconds', Buffer.from([7, 0xe7, 0x03, 12, 31, 23, 59, 58]), '0999-12-31T23:59:58'],
  ['microseconds', Buffer.from([11, 0xea, 0x07, 1, 2, 3, 4, 5, 0x20, 0xa1, 0x07, 0x00]), '2026-01-02T03:04:05.5'],
  ['one microsecond', Buffer.from([11, 0xea, 0x07, 1, 2, 3, 4, 5, 1, 0, 0, 0]), '2026-01-02T03:04:05.000001'],
])('spells times: %s', (_, cell, expected) => {
  expect(formatted(12, 'date and time', cell)).toBe(expected);
  expect(formatted(7, 'instant', cell)).toBe(`${expected}+00:00`);
});

it('spells nothing else', () => {
  expect(() => formatted(253, 'integer', Buffer.from([0]))).toThrow('holds no integers');
  expect(() => formatted(5, 'integer', Buffer.alloc(8))).toThrow('holds no integers');
  expect(() => formatted(10, 'instant', Buffer.from([0]))).toThrow('holds no dates with times');
});
