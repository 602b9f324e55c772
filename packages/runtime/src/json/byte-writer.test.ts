import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteWriter } from './byte-writer.ts';

interface Target {
  readonly out: ByteWriter;
  readonly taken: Buffer[];
  expected: string;
}

function newTarget(): Target {
  return { out: new ByteWriter(), taken: [], expected: '' };
}

test('bytes of several writers at once never mix, however they grow', () => {
  const pieces = fc.array(
    fc.record({ writer: fc.nat({ max: 3 }), size: fc.nat({ max: 60_000 }), take: fc.boolean() }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(pieces, (steps) => {
      const writers = [0, 1, 2, 3].map(newTarget);
      for (const [index, { writer, size, take }] of steps.entries()) {
        const target = writers[writer];
        if (target === undefined) continue;
        const piece = String.fromCharCode(97 + (index % 26)).repeat(size);
        target.out.append(Buffer.from(piece));
        target.expected += piece;
        if (take) target.taken.push(target.out.take());
      }
      for (const { out, expected, taken } of writers) {
        expect(Buffer.concat([...taken, out.take()]).toString() === expected).toBe(true);
      }
    }),
    { numRuns: 50 },
  );
});

test('taking nothing gives nothing, and clearing forgets', () => {
  const out = new ByteWriter();
  expect(out.take()).toHaveLength(0);
  out.append(Buffer.from('abc'));
  expect(out.length).toBe(3);
  out.clear();
  expect(out.length).toBe(0);
  out.append(Buffer.from('d'));
  expect(out.take().toString()).toBe('d');
});

test('answers share a slab instead of having memory of their own', () => {
  const out = new ByteWriter();
  out.append(Buffer.from('first'));
  const first = out.take();
  out.append(Buffer.from('second'));
  const second = out.take();
  expect(second.buffer).toBe(first.buffer);
  expect(first.toString()).toBe('first');
});
