import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteWriter, giveBack } from './byte-writer.ts';

interface Target {
  readonly out: ByteWriter;
  /** What was handed out and not given back, with what it must read. */
  readonly taken: { readonly bytes: Buffer; readonly expected: string }[];
  expected: string;
}

function newTarget(): Target {
  return { out: new ByteWriter(), taken: [], expected: '' };
}

function takeBytes(target: Target): void {
  target.taken.push({ bytes: target.out.takeBytes(), expected: target.expected });
  target.expected = '';
}

test('bytes of several writers at once never mix, however they grow and are given back', () => {
  const step = fc.record({
    writer: fc.nat({ max: 3 }),
    // Some outgrow every slab.
    size: fc.oneof({ weight: 9, arbitrary: fc.nat({ max: 60_000 }) }, fc.nat({ max: 700_000 })),
    next: fc.constantFrom('go on', 'take', 'take', 'give back'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const writers = [0, 1, 2, 3].map(newTarget);
      for (const [index, { writer, size, next }] of steps.entries()) {
        const target = writers[writer];
        if (target === undefined) continue;
        const piece = String.fromCharCode(97 + (index % 26)).repeat(size);
        if (index % 2 === 0) target.out.append(Buffer.from(piece));
        else target.out.appendText(piece);
        target.expected += piece;
        if (next !== 'go on') takeBytes(target);
        if (next === 'give back') giveBack(target.taken.shift()?.bytes ?? Buffer.alloc(0));
      }
      writers.forEach(takeBytes);
      for (const { bytes, expected } of writers.flatMap(({ taken }) => taken)) {
        expect(bytes.toString() === expected).toBe(true);
        giveBack(bytes);
      }
    }),
    { numRuns: 100 },
  );
});

test('taking nothing gives nothing', () => {
  expect(new ByteWriter().takeBytes()).toHaveLength(0);
});

test('memory whose answers were all given back is written again', () => {
  const first = written('first');
  const second = written('second');
  giveBack(first);
  expect(written('third').byteOffset).toBe(second.byteOffset + second.length);
  giveBack(second);
  giveBack(Buffer.from('from elsewhere'));
});

test('many answers at once, given back, leave memory for as many', () => {
  const remembered = new Set<ArrayBufferLike>();
  for (let round = 0; round < 10; round++) {
    // Some eight slabs full.
    const answers = Array.from({ length: 200 }, (_, index) => written(`answer ${index}`.repeat(500)));
    for (const { buffer } of answers) remembered.add(buffer);
    answers.forEach(giveBack);
  }
  expect(remembered.size).toBeLessThan(24);
});

test('answers that outgrow others, given back, leave memory for as many', () => {
  const remembered = new Set<ArrayBufferLike>();
  for (let round = 0; round < 50; round++) {
    const answers = [200_000, 500_000].map((size) => written('a'.repeat(size)));
    for (const { buffer } of answers) remembered.add(buffer);
    answers.forEach(giveBack);
  }
  expect(remembered.size).toBeLessThan(8);
});

test('answers that grow row by row, given back, leave memory for as many', () => {
  const remembered = new Set<ArrayBufferLike>();
  const waiting: Buffer[] = [];
  const out = new ByteWriter();
  for (let answer = 0; answer < 500; answer++) {
    for (let row = 0; row < 100; row++) out.appendText('a'.repeat(200));
    const bytes = out.takeBytes();
    remembered.add(bytes.buffer);
    // As many as a server writes at once.
    if (waiting.push(bytes) > 32) giveBack(waiting.shift() ?? Buffer.alloc(0));
  }
  waiting.forEach(giveBack);
  expect(remembered.size).toBeLessThan(24);
});

test('texts are written as UTF-8', () => {
  const out = new ByteWriter();
  for (const text of ['a', 'ä€', '😀', '']) out.appendText(text);
  expect(out.takeBytes().toString()).toBe('aä€😀');
});

function written(text: string): Buffer {
  const out = new ByteWriter();
  out.append(Buffer.from(text));
  return out.takeBytes();
}

test('answers share a slab instead of having memory of their own', () => {
  const out = new ByteWriter();
  out.append(Buffer.from('first'));
  const first = out.takeBytes();
  out.append(Buffer.from('second'));
  const second = out.takeBytes();
  expect(second.buffer).toBe(first.buffer);
  expect(first.toString()).toBe('first');
});
