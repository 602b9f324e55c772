import fc from 'fast-check';
import { expect, test } from 'vitest';
import { literalOf } from './bytes.ts';
import type { Field } from './fields.ts';
import { type Cell, generateFieldsWriter, printCellsFactory, printFactory } from './generate.ts';

function field(prefix: string): Field {
  return { prefix: literalOf(prefix), write: () => {} };
}

test('nothing of a key is in the code: any two of equal length make the same text', () => {
  const keys = fc.string({ unit: 'binary', maxLength: 100 });
  fc.assert(
    fc.property(keys, (key) => {
      const plain = 'k'.repeat(Buffer.byteLength(key));
      expect(printFactory([field(key), field(key)])).toBe(printFactory([field(plain), field(plain)]));
    }),
  );
});

test('nor in that for rows of MySQL and MariaDB', () => {
  const cells = (key: string): readonly Cell[] => [
    { prefix: literalOf(key), kind: 'sized', write: () => {} },
    { prefix: literalOf(key), kind: 'cell', write: () => 0 },
  ];
  expect(printCellsFactory(cells('`;process.exit(1);`'))).toBe(printCellsFactory(cells('k'.repeat(19))));
});

test.each(['`;process.exit(1);`', "'];throw 1;['", `\${process.exit(1)}`, '\u2028*/', '\\'])('%j is no code', (key) => {
  expect(generateFieldsWriter([field(key)], 0)).toBeTypeOf('function');
  expect(printFactory([field(key)])).not.toContain(key);
});
