/** CSV as exports write it (RFC 4180), row by row. Null is an empty cell, the empty text a quoted one. */
import { PlatformError } from '../errors.ts';

/** The cells of a row; null for an empty one. */
export type CsvRow = readonly (string | null)[];

/** Characters of a cell at most: far more than any value that a request may hold. */
const longestCell = 16 * 1024 ** 2;

/**
 * Reads the rows of a text in UTF-8. Lines end in CR LF, LF or CR; empty ones are passed over. Throws INVALID_PAYLOAD for
 * bytes that are no text, and for quotes that do not fit.
 */
export async function* readCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRow> {
  const parser = createParser();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of chunks) yield* parser.take(decode(() => decoder.decode(chunk, { stream: true })));
  yield* parser.take(decode(() => decoder.decode()));
  yield* parser.end();
}

function decode(read: () => string): string {
  try {
    return read();
  } catch {
    throw refuse('is not valid UTF-8');
  }
}

type State = 'start' | 'plain' | 'quoted' | 'quote';

function createParser() {
  let state: State = 'start';
  let cell = '';
  let row: (string | null)[] = [];
  let line = 1;
  let afterReturn = false;

  function endCell(): void {
    row.push(state === 'start' ? null : cell);
    cell = '';
    state = 'start';
  }

  /** The row, null for an empty line. */
  function endRow(): CsvRow | null {
    const empty = row.length === 0 && state === 'start';
    endCell();
    const done = row;
    row = [];
    line++;
    return empty ? null : done;
  }

  function add(text: string): void {
    cell += text;
    if (cell.length > longestCell) throw refuse(`has too long a cell in line ${line}`);
  }

  function* read(text: string): Generator<CsvRow> {
    for (const letter of text) {
      const followsReturn = afterReturn;
      afterReturn = false;
      if (state === 'quoted') {
        if (letter === '"') state = 'quote';
        else add(letter);
      } else if (letter === '"') {
        if (state === 'plain') throw refuse(`has a quote within a cell in line ${line}`);
        if (state === 'quote') add(letter);
        state = 'quoted';
      } else if (letter === ',') {
        endCell();
      } else if (letter === '\n' && followsReturn) {
        // The other half of a line's end.
      } else if (letter === '\r' || letter === '\n') {
        afterReturn = letter === '\r';
        const done = endRow();
        if (done !== null) yield done;
      } else {
        if (state === 'quote') throw refuse(`has text after a quoted cell in line ${line}`);
        state = 'plain';
        add(letter);
      }
    }
  }

  function* end(): Generator<CsvRow> {
    if (state === 'quoted') throw refuse('ends within quotes');
    if (row.length === 0 && state === 'start') return;
    const done = endRow();
    if (done !== null) yield done;
  }

  return { take: read, end };
}

/** Error for an invalid CSV file; `problem` continues the sentence "The file". */
export function refuse(problem: string): PlatformError {
  return new PlatformError('INVALID_PAYLOAD', `The file ${problem}.`);
}
