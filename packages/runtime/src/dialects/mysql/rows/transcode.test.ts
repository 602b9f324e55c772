import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByteWriter } from '../../../json/byte-writer.ts';
import { useWriterCode } from '../../../json/fields.ts';
import type { ShapeField } from '../../../json/shape.ts';
import { createTranscoder } from '../../../json/transcode.ts';
import { generatedCode } from '../../../optimize/generated-code/generate.ts';
import type { ColumnDefinition } from './columns.ts';
import { RowBytes } from './row-bytes.ts';
import { createDirectTranscoder, createRowWriter } from './transcode.ts';

useWriterCode(generatedCode);

/** A column with one cell of it as the server sends it, null for none. */
interface Cell {
  readonly column: ColumnDefinition;
  readonly wire: 'text' | 'number' | 'csv' | 'bytes' | 'masked';
  readonly bytes: Buffer | null;
}

const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size }).map((list) => Buffer.from(list));
const sized = (text: Buffer): Buffer => {
  const head = Buffer.alloc(text.length < 251 ? 1 : 3, text.length < 251 ? text.length : 252);
  if (text.length >= 251) head.writeUInt16LE(text.length, 1);
  return Buffer.concat([head, text]);
};
const text = fc
  .tuple(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.constantFrom('text', 'csv', 'bytes', 'masked'))
  .map(([value, wire]) => ({
    column: { columnType: 253, flags: 0, name: 'any' },
    wire,
    bytes: sized(Buffer.from(value)),
  }));
const integer = fc
  .tuple(
    fc.constantFrom([1, 1], [2, 2], [9, 4], [3, 4], [8, 8]),
    fc.constantFrom(0, 32),
    fc.constantFrom('text', 'number'),
  )
  .chain(([[columnType = 0, size = 0], flags, wire]) =>
    bytes(size).map((cell) => ({ column: { columnType, flags, name: 'platform: integer' }, wire, bytes: cell })),
  );
const year = fc.constantFrom(0, 1901, 2155).map((value) => {
  const cell = Buffer.alloc(2);
  cell.writeUInt16LE(value);
  return { column: { columnType: 13, flags: 32, name: 'platform: integer' }, wire: 'number', bytes: cell };
});
const time = fc
  .record({
    name: fc.constantFrom('platform: instant', 'platform: date and time'),
    size: fc.constantFrom(0, 4, 7, 11),
    year: fc.integer({ min: 0, max: 9999 }),
    parts: fc.array(fc.integer({ min: 0, max: 59 }), { minLength: 5, maxLength: 5 }),
    fraction: fc.integer({ min: 0, max: 999_999 }),
  })
  .map(({ name, size, year: value, parts, fraction }) => {
    const cell = Buffer.alloc(12);
    cell[0] = size;
    cell.writeUInt16LE(value, 1);
    for (const [place, part] of parts.entries()) cell[3 + place] = part;
    cell.writeUInt32LE(fraction, 8);
    return { column: { columnType: 12, flags: 0, name }, wire: 'text', bytes: cell.subarray(0, size + 1) };
  });
const cell = fc
  .tuple(fc.oneof(text, integer, year, time), fc.boolean())
  .map(([one, isMissing]) => ({ ...one, bytes: isMissing ? null : one.bytes }) as Cell);

function rowOf(cells: readonly Cell[]): Buffer {
  const map = Buffer.alloc((cells.length + 9) >> 3);
  for (const [place, one] of cells.entries()) {
    const bit = place + 2;
    if (one.bytes === null) map[bit >> 3] = (map[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return Buffer.concat([Buffer.from([0]), map, ...cells.map((one) => one.bytes ?? Buffer.alloc(0))]);
}

it('writes what goes by the form of PostgreSQL as that does', () => {
  const lists = fc.array(cell, { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(lists, fc.boolean(), (cells, isFixed) => {
      const columns = cells.map(({ column }) => column);
      const fields: ShapeField[] = cells.map(({ wire }, place) => ({
        key: `key "${place}"`,
        shape: { kind: 'scalar', wire },
      }));
      if (isFixed) fields.push({ key: 'fixed', shape: { kind: 'constant', json: '"é"' } });
      const row = rowOf(cells);
      const buffer = Buffer.concat([Buffer.from('front'), row, Buffer.from('behind')]);
      const direct = new ByteWriter();
      createDirectTranscoder(fields, columns)?.(buffer, 5, direct);
      const middle = new RowBytes();
      createRowWriter(columns)(middle, buffer, 5);
      const usual = new ByteWriter();
      createTranscoder(fields)(middle.buffer, 0, usual);
      expect(direct.takeBytes().toString('latin1')).toBe(usual.takeBytes().toString('latin1'));
    }),
    { numRuns: 300 },
  );
});

const one = (wire: Cell['wire'], name: string, columnType: number) =>
  createDirectTranscoder([{ key: 'a', shape: { kind: 'scalar', wire } }], [{ columnType, flags: 0, name }]);

it('leaves other rows to that form', () => {
  expect(one('text', 'any', 253)).toBeTypeOf('function');
  expect(one('text', 'platform: nested', 253)).toBeNull();
  // A count, in eight bytes.
  expect(one('number', 'any', 8)).toBeNull();
  expect(one('bytes', 'platform: integer', 8)).toBeNull();
  expect(createDirectTranscoder([], [])).toBeNull();
});

it('writes what the values are, also where memory comes to its end', () => {
  const kinds = [
    { columnType: 8, wire: 'text' },
    { columnType: 3, wire: 'number' },
    { columnType: 12, wire: 'text' },
  ] as const;
  const columns = Array.from({ length: 60 }, (_, place) => {
    const { columnType } = kinds[place % 3] ?? kinds[0];
    return { columnType, flags: 0, name: columnType === 12 ? 'platform: instant' : 'platform: integer' };
  });
  const fields: ShapeField[] = columns.map((_, place) => ({
    key: `k${place}`,
    shape: { kind: 'scalar', wire: (kinds[place % 3] ?? kinds[0]).wire },
  }));
  const write = createDirectTranscoder(fields, columns);
  const out = new ByteWriter();
  const expected: unknown[] = [];
  for (let row = 0; row < 300; row++) {
    const cells = columns.map((column, place) => sampleOf(column.columnType, row * 60 + place));
    expected.push(Object.fromEntries(cells.map(({ value }, place) => [`k${place}`, value])));
    const head = Buffer.alloc(1 + ((columns.length + 9) >> 3));
    if (row > 0) out.append(Buffer.from(','));
    write?.(Buffer.concat([head, ...cells.map(({ bytes: cell }) => cell)]), 0, out);
  }
  expect(JSON.parse(`[${out.takeBytes().toString()}]`)).toEqual(expected);
});

/** A cell of an integer or a time by a number, and what is to be read of it. */
function sampleOf(columnType: number, seed: number): { readonly bytes: Buffer; readonly value: string | number } {
  if (columnType === 12) {
    const moment = new Date(
      Date.UTC(1000 + (seed % 8_999), seed % 12, 1 + (seed % 28), seed % 24, seed % 60, seed % 59),
    );
    const microseconds = ((seed * 7_919) % (seed % 3 === 0 ? 1_000_000 : 1_000)) * (seed % 3 === 0 ? 1 : 1_000);
    const cell = Buffer.alloc(12, 11);
    cell.writeUInt16LE(moment.getUTCFullYear(), 1);
    const parts = [moment.getUTCMonth() + 1, moment.getUTCDate(), moment.getUTCHours(), moment.getUTCMinutes()];
    cell.set([...parts, moment.getUTCSeconds()], 3);
    cell.writeUInt32LE(microseconds, 8);
    const fraction = microseconds === 0 ? '' : `.${String(microseconds).padStart(6, '0').replace(/0+$/, '')}`;
    return { bytes: cell, value: `${moment.toISOString().slice(0, 19)}${fraction}+00:00` };
  }
  const magnitude = (BigInt(seed) * 2_654_435_761n * BigInt(seed + 1)) >> BigInt(seed % 40);
  const value = seed % 2 === 0 ? magnitude : -magnitude;
  const cell = Buffer.alloc(columnType === 8 ? 8 : 4);
  if (columnType === 8) cell.writeBigInt64LE(BigInt.asIntN(64, value));
  else cell.writeInt32LE(Number(BigInt.asIntN(32, value)));
  return { bytes: cell, value: columnType === 8 ? String(BigInt.asIntN(64, value)) : Number(BigInt.asIntN(32, value)) };
}
