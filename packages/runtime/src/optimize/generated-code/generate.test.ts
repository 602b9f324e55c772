import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteWriter } from '../../json/byte-writer.ts';
import { literalOf, sourceOf } from '../../json/bytes.ts';
import { type Cell, type Field, walkColumns } from '../../json/fields.ts';
import { array, record, text } from '../../json/testing/binary.ts';
import { writeText } from '../../json/texts.ts';
import { generatedCode, printCellsFactory, printColumnsFactory, printFactory } from './generate.ts';

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
  expect(generatedCode.fields([field(key)], 0)).toBeTypeOf('function');
  expect(printFactory([field(key)])).not.toContain(key);
});

test('nor in that for arrays of columns', () => {
  const fields = [field('`;process.exit(1);`'), field('b')];
  expect(printColumnsFactory(fields)).toBe(printColumnsFactory([field('k'.repeat(19)), field('c')]));
});

test('arrays of columns are written as they are walked', () => {
  const texts = fc.array(fc.tuple(fc.option(fc.string()), fc.option(fc.string())), { minLength: 1, maxLength: 20 });
  const fields = ['{"a":', `,"${'b'.repeat(90)}":`].map(
    (prefix): Field => ({ prefix: literalOf(prefix), write: writeText }),
  );
  const end = literalOf(',"c":0}');
  const generated = generatedCode.columns(fields, end);
  fc.assert(
    fc.property(texts, (rows) => {
      const columns = [0, 1].map((index) =>
        array(
          [rows.length],
          rows.map((row) => {
            const cell = row[index] ?? null;
            return cell === null ? null : text(cell);
          }),
        ),
      );
      const source = sourceOf(record(...columns));
      const [walked, written] = [new ByteWriter(), new ByteWriter()];
      walkColumns(fields, end, walked, source, 0);
      generated?.(written, source, 0);
      const bytes = written.takeBytes().toString();
      expect(bytes).toBe(walked.takeBytes().toString());
      expect(JSON.parse(`[${bytes}]`)).toHaveLength(rows.length);
    }),
  );
});
