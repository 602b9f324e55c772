/** Columns as SHOW CREATE TABLE prints them, taken apart, changed, and printed again: MODIFY wants all of a column. */
import type { ColumnDefinition } from '../../../model/table-parts.ts';

/** Columns and indexes of a table. */
export interface TableDefinition {
  /** By their names. */
  readonly columns: ReadonlyMap<string, ColumnDefinition>;
  readonly indexes: ReadonlySet<string>;
}

const linePattern = /^ {2}`((?:[^`]|``)+)` (.*?),?$/;
const indexPattern = /^ {2}(?:UNIQUE |FULLTEXT |SPATIAL )?KEY `((?:[^`]|``)+)`/;

/** Reads what SHOW CREATE TABLE prints in a session that quotes names by backticks. */
export function readTableDefinition(printed: string): TableDefinition {
  const lines = printed.split('\n');
  const named = (pattern: RegExp): readonly (readonly [string, string])[] =>
    lines.flatMap((line) => {
      const [, name, rest = ''] = pattern.exec(line) ?? [];
      return name === undefined ? [] : [[name.replaceAll('``', '`'), rest] as const];
    });
  return {
    columns: new Map(named(linePattern).map(([name, text]) => [name, readColumnDefinition(text)])),
    indexes: new Set(named(indexPattern).map(([name]) => name)),
  };
}

/** Reads the definition of a column: the text after its name. */
export function readColumnDefinition(text: string): ColumnDefinition {
  const keywords = wordsOf(text);
  const typeEnd = keywords.findIndex((_, position) => position > 0 && !isOfType(keywords, position));
  const end = typeEnd === -1 ? keywords.length : typeEnd;
  const rest: string[] = [];
  let [nullable, backfill, comment, check]: [boolean, string | null, string | null, string | null] = [
    true,
    null,
    null,
    null,
  ];
  for (let position = end; position < keywords.length; position++) {
    const [word = '', next = ''] = keywords.slice(position, position + 2);
    const upper = word.toUpperCase();
    if (upper === 'NOT' && next.toUpperCase() === 'NULL') nullable = false;
    else if (upper === 'DEFAULT') backfill = next.toUpperCase() === 'NULL' ? null : next;
    else if (upper === 'COMMENT') comment = next;
    else if (upper === 'CHECK') check = next;
    else {
      if (upper !== 'NULL') rest.push(word);
      continue;
    }
    position += 1;
  }
  const generated = rest.some((word) => /^(?:GENERATED|AS)$/i.test(word));
  return { type: keywords.slice(0, end).join(' '), nullable, default: backfill, comment, check, rest, generated };
}

/**
 * Words between blanks. Text in quotes or parentheses is one word, with the characters that it touches: `decimal(8,2)`,
 * `_utf8mb4'a b'`.
 */
function wordsOf(text: string): readonly string[] {
  const keywords: string[] = [];
  let start = 0;
  for (let position = 0; position <= text.length; position++) {
    const character = text[position];
    if (character === "'" || character === '`') position = endOfQuoted(text, position);
    else if (character === '(') position = endOfGroup(text, position);
    else if (character === undefined || character === ' ') {
      if (position > start) keywords.push(text.slice(start, position));
      start = position + 1;
    }
  }
  return keywords;
}

/** Position of the parenthesis that closes the one at `open`; parentheses in texts and names do not count. */
function endOfGroup(text: string, open: number): number {
  let depth = 0;
  for (let position = open; position < text.length; position++) {
    const character = text[position];
    if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    else if (character === "'" || character === '`') position = endOfQuoted(text, position);
    if (depth === 0) return position;
  }
  return text.length;
}

function endOfQuoted(text: string, start: number): number {
  const quote = text[start];
  for (let position = start + 1; position < text.length; position++) {
    if (quote === "'" && text[position] === '\\') position += 1;
    else if (text[position] === quote) {
      if (text[position + 1] !== quote) return position;
      position += 1;
    }
  }
  return text.length;
}

const typeWords: ReadonlySet<string> = new Set([
  'UNSIGNED',
  'ZEROFILL',
  'CHARACTER',
  'CHARSET',
  'COLLATE',
  'PRECISION',
]);

function isOfType(keywords: readonly string[], position: number): boolean {
  const [before = '', word = ''] = [keywords[position - 1], keywords[position]].map((text) => text?.toUpperCase());
  if (typeWords.has(word) || word === 'SET') return true;
  return before === 'COLLATE' || before === 'CHARSET' || before === 'SET';
}

/** Prints a definition, to stand after the name of a column. */
export function printColumnDefinition(column: ColumnDefinition): string {
  return [
    column.type,
    column.nullable ? 'NULL' : 'NOT NULL',
    ...(column.default === null ? [] : [`DEFAULT ${column.default}`]),
    ...column.rest,
    ...(column.comment === null ? [] : [`COMMENT ${column.comment}`]),
    ...(column.check === null ? [] : [`CHECK ${column.check}`]),
  ].join(' ');
}
