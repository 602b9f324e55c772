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
  const parser = new CsvParser();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of chunks) yield* parser.read(decode(() => decoder.decode(chunk, { stream: true })));
  yield* parser.read(decode(() => decoder.decode()));
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

class CsvParser {
  #state: State = 'start';
  #cell = '';
  #row: (string | null)[] = [];
  #line = 1;
  #afterReturn = false;

  #endCell(): void {
    this.#row.push(this.#state === 'start' ? null : this.#cell);
    this.#cell = '';
    this.#state = 'start';
  }

  /** The row, null for an empty line. */
  #endRow(): CsvRow | null {
    const empty = this.#row.length === 0 && this.#state === 'start';
    this.#endCell();
    const done = this.#row;
    this.#row = [];
    this.#line++;
    return empty ? null : done;
  }

  #add(text: string): void {
    this.#cell += text;
    if (this.#cell.length > longestCell) throw refuse(`has too long a cell in line ${this.#line}`);
  }

  *read(text: string): Generator<CsvRow> {
    for (const letter of text) {
      const followsReturn = this.#afterReturn;
      this.#afterReturn = false;
      if (this.#state === 'quoted') {
        if (letter === '"') this.#state = 'quote';
        else this.#add(letter);
      } else if (letter === '"') {
        if (this.#state === 'plain') throw refuse(`has a quote within a cell in line ${this.#line}`);
        if (this.#state === 'quote') this.#add(letter);
        this.#state = 'quoted';
      } else if (letter === ',') {
        this.#endCell();
      } else if (letter === '\n' && followsReturn) {
        // The other half of a line's end.
      } else if (letter === '\r' || letter === '\n') {
        this.#afterReturn = letter === '\r';
        const done = this.#endRow();
        if (done !== null) yield done;
      } else {
        if (this.#state === 'quote') throw refuse(`has text after a quoted cell in line ${this.#line}`);
        this.#state = 'plain';
        this.#add(letter);
      }
    }
  }

  *end(): Generator<CsvRow> {
    if (this.#state === 'quoted') throw refuse('ends within quotes');
    if (this.#row.length === 0 && this.#state === 'start') return;
    const done = this.#endRow();
    if (done !== null) yield done;
  }
}

/** Error for an invalid CSV file; `problem` continues the sentence "The file". */
export function refuse(problem: string): PlatformError {
  return new PlatformError('INVALID_PAYLOAD', `The file ${problem}.`);
}
