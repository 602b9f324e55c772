/**
 * Code that does for one list of fields what `json/fields.ts` does for any. Every field has its own call, which the
 * optimising compiler can inline, and every word of a key is a constant.
 *
 * The text of the code consists of the texts in this file and of numbers counted here. These are the number of fields
 * and of words in their prefixes, and, of rows of cells, the fields that are texts. Names, literals and writers are
 * arguments of the code, never part of its text.
 */
import { type Literal, putLiteral } from '../../json/bytes.ts';
import { type Cell, type Field, type FieldsWriter, roomOf, type WriterCode, writeNull } from '../../json/fields.ts';

/** Prefixes of more words are stored in a loop. */
const maxWords = 16;

/** Cells that room is made for at once, at most. */
const maxBatch = 16;

export const generatedCode: WriterCode = {
  fields: (fields, skip) => create(printFactory(fields), fields, [skip]),
  cells: (cells, lengths) => create(printCellsFactory(cells), cells, [lengths]),
  columns: (fields, end) => create(printColumnsFactory(fields), fields, [end, roomOf(end)]),
};

function create(text: string, fields: readonly unknown[], more: readonly unknown[]): FieldsWriter | null {
  try {
    const creator = new Function('fields', 'more', 'roomOf', 'putLiteral', 'writeNull', text);
    const made: unknown = creator(fields, more, roomOf, putLiteral, writeNull);
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
export function printFactory(fields: readonly Field[]): string {
  const steps = fields.map(
    ({ prefix }, index) => `
  length = view.getInt32(at + skip);
  at += skip + 4;
  out.reserve(room${index});
${printPrefix(prefix, index)}  if (length < 0) writeNull(out);
  else {
    write${index}(out, source, at, length);
    at += length;
  }
`,
  );
  return printFunction(fields, 'const [skip] = more;', 'start', steps);
}

export function printCellsFactory(cells: readonly Cell[]): string {
  // The map of what is missing has two bits in front that mean nothing.
  const mapLength = (cells.length + 9) >> 3;
  const rooms = printRooms(cells);
  const steps = cells.map(({ prefix, kind }, index) => {
    const bit = index + 2;
    const sized = `{
    length = view.getUint8(at);
    if (length < wide) at += 1;
    else {
      length = lengthAt(source.bytes, at);
      at += widthAt(source.bytes, at);
    }
    write${index}(out, source, at, length);
    at += length;
  }`;
    return `
${rooms[index]}${printPrefix(prefix, index)}  if ((view.getUint8(start + ${1 + (bit >> 3)}) & ${1 << (bit & 7)}) !== 0) writeNull(out);
  else ${kind === 'sized' ? sized : `at = write${index}(out, source, at);`}
`;
  });
  return printFunction(cells, 'const [{ wide, lengthAt, widthAt }] = more;', `start + ${1 + mapLength}`, steps);
}

/** The same for arrays of columns: a number of elements behind 12 bytes, and the first of them behind 20. */
export function printColumnsFactory(fields: readonly Pick<Field, 'prefix'>[]): string {
  const constants = fields.map(({ prefix }, index) => printConstants(index, wordsOf(prefix.words.length)));
  const starts = fields.map(
    (_, index) => `
  length = view.getInt32(at + 4);
  at += 8;
  size = length < 0 ? 0 : view.getInt32(at + 12);
  let at${index} = at + 20;
  if (length > 0) at += length;
`,
  );
  const steps = fields.map(
    ({ prefix }, index) => `
  length = view.getInt32(at${index});
  at${index} += 4;
  out.reserve(room${index});
${printPrefix(prefix, index)}  if (length < 0) writeNull(out);
  else {
    write${index}(out, source, at${index}, length);
    at${index} += length;
  }
`,
  );
  return `'use strict';
const [end, endRoom] = more;
${constants.join('')}
return function writeGenerated(out, source, start) {
  const { view } = source;
  let at = start + 4;
  let length = 0;
  let size = 0;
${starts.join('')}
  for (let record = 0; record < size; record++) {
  if (record > 0) out.bytes[out.position++] = 44;
${steps.join('')}
  out.reserve(endRoom);
  out.position = putLiteral(out.view, out.position, end);
  }
};`;
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
  return count > maxWords ? null : Array.from({ length: count }, (_, word) => word);
}

function printConstants(index: number, wordView: readonly number[] | null): string {
  const constants = wordView?.map((word) => `const word${index}_${word} = prefix${index}.words[${word}];\n`) ?? [];
  return `const { prefix: prefix${index}, write: write${index} } = fields[${index}];
const length${index} = prefix${index}.length;
const room${index} = roomOf(prefix${index});
${constants.join('')}`;
}

/** Prints the code that makes room in front of cells, for several at once. A text makes its own room. */
function printRooms(cells: readonly Cell[]): readonly string[] {
  const runs: string[][] = cells.map(() => []);
  let first = 0;
  for (const [index, { kind }] of cells.entries()) {
    runs[first]?.push(`room${index}`);
    if (kind === 'sized' || index - first === maxBatch - 1) first = index + 1;
  }
  return runs.map((run) => (run.length === 0 ? '' : `  out.reserve(${run.join(' + ')});\n`));
}

/** Stores what stands in front of a field's value, for which there is room. */
function printPrefix({ words: { length } }: Literal, index: number): string {
  const wordView = wordsOf(length);
  const stores = wordView?.map(
    (word) => `  out.view.setInt32(out.position + ${word * 4}, word${index}_${word}, true);\n`,
  );
  const prefix =
    stores === undefined
      ? `  out.position = putLiteral(out.view, out.position, prefix${index});\n`
      : `${stores.join('')}  out.position += length${index};\n`;
  return prefix;
}
