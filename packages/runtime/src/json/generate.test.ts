import fc from 'fast-check';
import { expect, test } from 'vitest';
import { literalOf } from './bytes.ts';
import type { Field } from './fields.ts';
import { generateFieldsWriter, printMaker } from './generate.ts';

function field(prefix: string): Field {
  return { prefix: literalOf(prefix), write: () => {} };
}

test('nothing of a key is in the code: any two of equal length make the same text', () => {
  const keys = fc.string({ unit: 'binary', maxLength: 100 });
  fc.assert(
    fc.property(keys, (key) => {
      const plain = 'k'.repeat(Buffer.byteLength(key));
      expect(printMaker([field(key), field(key)])).toBe(printMaker([field(plain), field(plain)]));
    }),
  );
});

test.each(['`;process.exit(1);`', "'];throw 1;['", `\${process.exit(1)}`, '\u2028*/', '\\'])('%j is no code', (key) => {
  expect(generateFieldsWriter([field(key)], 0)).toBeTypeOf('function');
  expect(printMaker([field(key)])).not.toContain(key);
});
