/**
 * Code that does for one list of fields what `fields.ts` does for any: every field has its own call, which the optimising
 * compiler can inline, and every word of a key is a constant.
 *
 * The text of the code consists of what stands in this file and of numbers counted here: how many fields there are,
 * how many words their prefixes have, and, of rows of MySQL and MariaDB, which fields are texts. Names, literals and writers are arguments of the code, never part of its text.
 */
import type { ByteWriter } from './byte-writer.ts';
import { type Literal, putLiteral, type Source } from './bytes.ts';
import { type Field, type FieldsWriter, roomOf, type Writer, writeNull } from './fields.ts';

/** Prefixes of more words are stored in a loop. */
const mostWords = 16;

/** Generates the writer of some fields; null where the process forbids code from strings. */
export function generateFieldsWriter(fields: readonly Field[], skip: number): FieldsWriter | null {
  return make(printMaker(fields), fields, [skip]);
}

/** Writes the cell that starts at `at` into reserved room, and returns where it ends. */
export type CellWriter = (out: ByteWriter, source: Source, at: number) => number;

/** A field of a row of MySQL or MariaDB: what writes it is told where its text is, or finds out where it ends by itself. */
export type Cell = Pick<Field, 'prefix'> &
  ({ readonly kind: 'sized'; readonly write: Writer } | { readonly kind: 'cell'; readonly write: CellWriter });

/** How a text tells its length: that itself, and how many bytes it takes. */
export interface Lengths {
  lengthAt(bytes: Buffer, at: number): number;
  widthAt(bytes: Buffer, at: number): number;
}

/**
 * Generates the writer of rows of the binary protocol of MySQL and MariaDB, which start with a status byte and a bit for
 * each cell that is missing; null where the process forbids code from strings.
 */
export function generateCellsWriter(cells: readonly Cell[], lengths: Lengths): FieldsWriter | null {
  return make(printCellsMaker(cells), cells, [lengths]);
}

function make(text: string, fields: readonly unknown[], more: readonly unknown[]): FieldsWriter | null {
  try {
    const maker = new Function('fields', 'more', 'roomOf', 'putLiteral', 'writeNull', text);
    const made: unknown = maker(fields, more, roomOf, putLiteral, writeNull);
    return isWriter(made) ? made : null;
  } catch (error) {
    if (error instanceof EvalError) return null;
    throw error;
  }
}

function isWriter(made: unknown): made is FieldsWriter {
  return typeof made === 'function';
}

/** Prints the body of a function that returns the writer. */
export function printMaker(fields: readonly Field[]): string {
  const steps = fields.map(
    ({ prefix }, index) => `
  length = view.getInt32(at + skip);
  at += skip + 4;
${printPrefix(prefix, index)}  if (length < 0) writeNull(out);
  else {
    write${index}(out, source, at, length);
    at += length;
  }
`,
  );
  return printFunction(fields, 'const [skip] = more;', 'start', steps);
}

/** The same for cells. */
export function printCellsMaker(cells: readonly Cell[]): string {
  // The map of what is missing has two bits in front that mean nothing.
  const mapLength = (cells.length + 9) >> 3;
  const steps = cells.map(({ prefix, kind }, index) => {
    const bit = index + 2;
    const sized = `{
    length = lengthAt(source.bytes, at);
    at += widthAt(source.bytes, at);
    write${index}(out, source, at, length);
    at += length;
  }`;
    return `
${printPrefix(prefix, index)}  if ((view.getUint8(start + ${1 + (bit >> 3)}) & ${1 << (bit & 7)}) !== 0) writeNull(out);
  else ${kind === 'sized' ? sized : `at = write${index}(out, source, at);`}
`;
  });
  return printFunction(cells, 'const [{ lengthAt, widthAt }] = more;', `start + ${1 + mapLength}`, steps);
}

function printFunction(
  fields: readonly Pick<Field, 'prefix'>[],
  more: string,
  start: string,
  steps: readonly string[],
): string {
  const constants = fields.map(({ prefix }, index) => printConstants(index, wordsOf(prefix.words.length)));
  return `'use strict';
${more}
${constants.join('')}
return function writeGenerated(out, source, start) {
  const { view } = source;
  let at = ${start};
  let length = 0;
${steps.join('')}
  out.reserve(1);
  out.bytes[out.position++] = 125;
};`;
}

/** The numbers of a prefix's words; null when they are too many to be constants. */
function wordsOf(count: number): readonly number[] | null {
  return count > mostWords ? null : Array.from({ length: count }, (_, word) => word);
}

function printConstants(index: number, words: readonly number[] | null): string {
  const constants = words?.map((word) => `const word${index}_${word} = prefix${index}.words[${word}];\n`) ?? [];
  return `const { prefix: prefix${index}, write: write${index} } = fields[${index}];
const length${index} = prefix${index}.length;
const room${index} = roomOf(prefix${index});
${constants.join('')}`;
}

/** Makes room for a field and stores what stands in front of its value. */
function printPrefix({ words: { length } }: Literal, index: number): string {
  const words = wordsOf(length);
  const stores = words?.map((word) => `  out.view.setInt32(out.position + ${word * 4}, word${index}_${word}, true);\n`);
  const prefix =
    stores === undefined
      ? `  out.position = putLiteral(out.view, out.position, prefix${index});\n`
      : `${stores.join('')}  out.position += length${index};\n`;
  return `  out.reserve(room${index});\n${prefix}`;
}
