/** Chooses how fields are written: walked at first, by generated code once they are used often. */
import { type Field, type FieldsWriter, walkFields } from './fields.ts';
import { generateFieldsWriter } from './generate.ts';

/** Objects written after which generating code pays: it takes about as long as walking so many. */
export const oftenUsed = 500;

const emptyObject = Buffer.from('{}');

/** Makes the writer of fields in whose source `skip` bytes stand in front of every length. */
export function createFieldsWriter(fields: readonly Field[], skip: number): FieldsWriter {
  if (fields.length === 0) return (out) => out.append(emptyObject);
  let uses = 0;
  let write: FieldsWriter = function walkAndCount(out, source, start) {
    walkFields(fields, skip, out, source, start);
    uses += 1;
    if (uses === oftenUsed) write = generateFieldsWriter(fields, skip) ?? write;
  };
  return (out, source, start) => write(out, source, start);
}
