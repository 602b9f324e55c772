import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MessageReader, readErrorFields } from './messages.ts';

function message(kind: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function readAll(chunks: readonly Buffer[]): string[] {
  const seen: string[] = [];
  const reader = new MessageReader((kind, buffer, start, end) => {
    seen.push(String.fromCharCode(kind) + buffer.toString('latin1', start, end));
  });
  for (const chunk of chunks) reader.feed(chunk);
  return seen;
}

test('messages come out the same however the stream is cut', () => {
  const bodies = fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 40 }), { minLength: 1, maxLength: 20 });
  const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(bodies, cuts, (texts, sizes) => {
      const stream = Buffer.concat(texts.map((text) => message('D', Buffer.from(text, 'latin1'))));
      const chunks: Buffer[] = [];
      for (let at = 0, i = 0; at < stream.length; i++) {
        const size = sizes[i % sizes.length] ?? 1;
        chunks.push(stream.subarray(at, at + size));
        at += size;
      }
      expect(readAll(chunks)).toEqual(texts.map((text) => `D${text}`));
    }),
  );
});

test('a message of many chunks is put together once', () => {
  const body = Buffer.alloc(3_000_000, 'x');
  const stream = Buffer.concat([message('1', Buffer.alloc(0)), message('D', body), message('Z', Buffer.from('I'))]);
  const chunks = Array.from({ length: Math.ceil(stream.length / 65_536) }, (_, i) =>
    stream.subarray(i * 65_536, (i + 1) * 65_536),
  );
  const seen = readAll(chunks);
  expect(seen.map((text) => text.length)).toEqual([1, body.length + 1, 2]);
});

test('messages that are split stand in the same memory, one after the other', () => {
  const buffers = new Set<ArrayBufferLike>();
  const texts: string[] = [];
  const reader = new MessageReader((_kind, buffer, start, end) => {
    buffers.add(buffer.buffer);
    texts.push(buffer.toString('latin1', start, end));
  });
  const sizes = [3, 9_000, 70_000, 20];
  for (const [index, size] of sizes.entries()) {
    const split = message('D', Buffer.alloc(size, String(index)));
    for (const cut of [split.subarray(0, 4), split.subarray(4, 7), split.subarray(7)]) reader.feed(Buffer.from(cut));
  }
  expect(texts).toEqual(sizes.map((size, index) => String(index).repeat(size)));
  // The long one is dropped after its use.
  expect(buffers.size).toBe(4);
  for (let count = 0; count < 100; count++) {
    const split = message('D', Buffer.from('again'));
    reader.feed(Buffer.from(split.subarray(0, 6)));
    reader.feed(Buffer.from(split.subarray(6)));
  }
  expect(buffers.size).toBe(4);
});

test('a length that cannot be is refused', () => {
  expect(() => readAll([Buffer.from([68, 0, 0, 0, 3, 0])])).toThrow('length of 3');
});

test('fields of an error', () => {
  const body = Buffer.from('SERROR\0VERROR\0C23505\0Mduplicate\0\0');
  expect([...readErrorFields(body, 0, body.length)]).toEqual([
    ['S', 'ERROR'],
    ['V', 'ERROR'],
    ['C', '23505'],
    ['M', 'duplicate'],
  ]);
  expect([...readErrorFields(Buffer.from('Cunended'), 0, 8)]).toEqual([]);
});
