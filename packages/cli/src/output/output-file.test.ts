/** Files are compared chunk by chunk, without joining their texts. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { haveSameText, type OutputFile } from './output-file.ts';

/** A text cut into chunks, some of them bytes. */
const files = fc
  .array(fc.record({ text: fc.stringMatching(/^[aä€]{0,3}$/), asBytes: fc.boolean() }), { maxLength: 4 })
  .map((parts): OutputFile => {
    const chunks = parts.map(({ text, asBytes }) => (asBytes ? Buffer.from(text) : text));
    return { path: 'a', contents: parts.map(({ text }) => text).join(''), chunks };
  });

test('is never told wrongly, and only not told where texts are as long and cut at other places', () => {
  fc.assert(
    fc.property(files, files, (one, other) => {
      const told = haveSameText(one, other);
      if (told !== null) expect(told).toBe(one.contents === other.contents);
      else expect(Buffer.byteLength(one.contents)).toBe(Buffer.byteLength(other.contents));
    }),
    { numRuns: 2000 },
  );
});

test.each<[boolean, readonly string[], readonly string[]]>([
  [true, ['same', 'piece'], ['same', 'piece']],
  [false, ['first', 'was', 'last'], ['first', 'now', 'last']],
  [false, ['first', 'was', 'last'], ['first', 'is', 'last']],
  [false, ['first', 'last'], ['first', 'between', 'last']],
  [true, ['whole'], ['whole']],
  [false, ['whole'], ['other']],
])('%s of what is cut alike or longer: %j and %j', (expected, some, others) => {
  const [one, other] = [some, others].map((chunks): OutputFile => ({ path: 'a', contents: chunks.join(''), chunks }));
  expect(one && other && haveSameText(one, other)).toBe(expected);
});
