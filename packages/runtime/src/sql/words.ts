import type { Condition } from '../language/index.ts';
import { type OperandType, printValue } from './operand.ts';
import type { Row } from './row.ts';

/** A column of a document. */
const columnPattern = /\{("(?:[^"]|"")*")\}/g;

const text: OperandType = { type: 'text', native: 'text' };

/** Comparison of the words of a search. */
export type WordsCondition = Extract<Condition, { kind: 'compare' }>;

/** Prints a search for words: a predicate, and the rank by which lists are ordered. */
export function printWords(row: Row, { operator, operand }: WordsCondition) {
  const { search } = row.collection.descriptor;
  if (search === undefined) return { matches: 'FALSE', rank: '0' };
  const document = search.document.replace(columnPattern, (_, column: string) => row.column(column));
  return row.statement.dialect.wordSearch(
    document,
    printValue(row.statement, text, operator, operand),
    search.language,
  );
}
