import { expect, test } from 'vitest';
import { ByteWriter } from '../../../json/byte-writer.ts';
import { writeBind, writeCloseStatement, writeExecute, writeParse, writeSync } from './encode.ts';

function bytesOf(write: (out: ByteWriter) => void): string {
  const out = new ByteWriter();
  write(out);
  return out.takeBytes().toString('latin1');
}

test('messages are laid out as the protocol says', () => {
  expect(bytesOf((out) => writeParse(out, 'n', 'SELECT 1'))).toBe('P\0\0\0\x11n\0SELECT 1\0\0\0');
  expect(bytesOf((out) => writeBind(out, 'n', ['ab', null]))).toBe(
    'B\0\0\0\x19\0n\0\0\0\0\x02\0\0\0\x02ab\xff\xff\xff\xff\0\x01\0\x01',
  );
  expect(bytesOf((out) => writeBind(out, '', [], 'text'))).toBe('B\0\0\0\x0e\0\0\0\0\0\0\0\x01\0\0');
  expect(bytesOf((out) => writeExecute(out, 258))).toBe('E\0\0\0\x09\0\0\0\x01\x02');
  expect(bytesOf((out) => writeCloseStatement(out, 'n'))).toBe('C\0\0\0\x07Sn\0');
  expect(bytesOf(writeSync)).toBe('S\0\0\0\x04');
});

test('parameters are UTF-8 of any size, in one run of messages', () => {
  const large = 'é😀'.repeat(100_000);
  const out = new ByteWriter();
  writeSync(out);
  writeBind(out, 'n', [large, 'x']);
  const bytes = out.takeBytes();
  expect(bytes.readInt32BE(6)).toBe(bytes.length - 6);
  expect(bytes.includes(Buffer.from(large))).toBe(true);
});
