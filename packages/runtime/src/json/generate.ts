/**
 * Code that does for one list of fields what `fields.ts` does for any: every field has its own call, which the optimising
 * compiler can inline, and every word of a key is a constant.
 *
 * The text of the code consists of what stands in this file and of numbers counted here: how many fields there are, and
 * how many words their prefixes have. Names, literals and writers are arguments of the code, never part of its text.
 */
import { putLiteral } from './bytes.ts';
import { type Field, type FieldsWriter, roomOf, writeNull } from './fields.ts';

/** Prefixes of more words are stored in a loop. */
const mostWords = 16;

/** Generates the writer of some fields; null where the process forbids code from strings. */
export function generateFieldsWriter(fields: readonly Field[], skip: number): FieldsWriter | null {
  try {
    const make = new Function('fields', 'skip', 'roomOf', 'putLiteral', 'writeNull', printMaker(fields));
    const made: unknown = make(fields, skip, roomOf, putLiteral, writeNull);
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
  const constants = fields.map(({ prefix }, index) => printConstants(index, wordsOf(prefix.words.length)));
  const steps = fields.map(({ prefix }, index) => printStep(index, wordsOf(prefix.words.length)));
  return `'use strict';
${constants.join('')}
return function writeGenerated(out, source, start) {
  const { view } = source;
  let at = start;
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

function printStep(index: number, words: readonly number[] | null): string {
  const stores = words?.map((word) => `  out.view.setInt32(out.position + ${word * 4}, word${index}_${word}, true);\n`);
  const prefix =
    stores === undefined
      ? `  out.position = putLiteral(out.view, out.position, prefix${index});\n`
      : `${stores.join('')}  out.position += length${index};\n`;
  return `
  length = view.getInt32(at + skip);
  at += skip + 4;
  out.reserve(room${index});
${prefix}  if (length < 0) writeNull(out);
  else {
    write${index}(out, source, at, length);
    at += length;
  }
`;
}
