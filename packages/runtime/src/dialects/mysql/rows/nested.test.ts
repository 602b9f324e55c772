import { expect, test } from 'vitest';
import { writeNested } from './nested.ts';
import { RowBytes } from './row-bytes.ts';

/** The bytes of a nested value without the length in front. */
function bytesOf(text: string): string {
  const out = new RowBytes();
  writeNested(out, Buffer.from(text));
  expect(out.buffer.readInt32BE(0)).toBe(out.length - 4);
  return out.buffer.toString('hex', 4, out.length);
}

test('a record is the number of its columns, then oid, length and bytes of each', () => {
  expect(bytesOf('(2:ab~)')).toBe(['00000002', '00000000', '00000002', '6162', '00000000', 'ffffffff'].join(''));
});

test('a number ends at a mark', () => {
  expect(bytesOf('(=12;~=;)')).toBe(bytesOf('(2:12~0:)'));
});

test.each([
  ['2026-01-02 10:00:00', '2026-01-02T10:00:00'],
  ['2026-01-02 10:00:00.500000', '2026-01-02T10:00:00.5'],
  ['2026-01-02 10:20:30.000', '2026-01-02T10:20:30'],
  ['0000-00-00 00:00:00', '0000-00-00T00:00:00'],
  ['9999-12-31 23:59:59.999999', '9999-12-31T23:59:59.999999'],
])('the time %s becomes %s', (written, told) => {
  expect(bytesOf(`(&${written};@${written};~)`)).toBe(
    bytesOf(`(${told.length}:${told}${told.length + 6}:${told}+00:00~)`),
  );
});

test('a list without elements has no dimensions', () => {
  expect(bytesOf('[]')).toBe('00000000'.repeat(3));
});

test('a list of records, and signs within values', () => {
  const record = ['00000010', '00000001', '00000000', '00000004', '295d7e5b'].join('');
  expect(bytesOf('[(4:)]~[)]')).toBe(['00000001', '00000000', '00000000', '00000001', '00000001', record].join(''));
});

test('rows grow beyond the buffer', () => {
  const long = 'x'.repeat(100_000);
  expect(bytesOf(`(${long.length}:${long})`)).toHaveLength(2 * (12 + long.length));
});

test.each(['(1:a', '(=1', '(@2026-01-02 10', '[1:a', '(9', '~~', '!'])('%s is refused', (text) => {
  expect(() => writeNested(new RowBytes(), Buffer.from(text))).toThrow();
});
