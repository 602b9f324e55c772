/**
 * The answer to one prepared statement, packet by packet: the number of columns, their definitions, the rows, the end.
 *
 * Source: https://mariadb.com/kb/en/result-set-packets/, https://dev.mysql.com/doc/dev/mysql-server (the same).
 */
import { type RowSink, receiverOf } from '../../../database/database.ts';
import type { Transcoder } from '../../../json/transcode.ts';
import { toMysqlError } from '../driver/errors.ts';
import { type KnownColumns, knownColumns } from '../driver/known-columns.ts';
import { integerAt, lengthAt, widthOf } from './columns.ts';
import { RowBytes } from './row-bytes.ts';

/** Kinds of packets, by their first byte. */
const marks = { ok: 0, end: 0xfe, error: 0xff } as const;
/** The end of columns or rows: its length at most, where its status stands, and the part of that which announces more. */
const divider = { most: 8, status: 3, more: 8 } as const;
/** The row that is being handed over; the sink is done with it before the next one comes, on any connection. */
const bytes = new RowBytes();

/** Reads one answer and hands its rows to a sink as PostgreSQL would send them. */
export class AnswerReader {
  rows = 0;
  /** First error, of the server or of the sink. Later rows are read and dropped, to keep the connection usable. */
  failure: unknown;
  /** The columns; at first those of an earlier answer to the same statement, if there was one. */
  columns: KnownColumns | undefined;
  readonly #sink: RowSink;
  readonly #receiver: RowSink;
  readonly #onRow: ((bytes: number) => void) | undefined;
  /** Part of the answer that the next packet belongs to. */
  #part: 'head' | 'columns' | 'divider' | 'rows' = 'head';
  #expected = 0;
  #described = 0;
  /** Makes items of rows, if the sink asks for that. */
  #transcode: Transcoder | undefined;
  /** Copies of the descriptions, once one of them is another than before. */
  #anew: Buffer[] | undefined;

  constructor(sink: RowSink, columns: KnownColumns | undefined, onRow: ((bytes: number) => void) | undefined) {
    this.#sink = sink;
    this.#receiver = receiverOf(sink);
    this.columns = columns;
    this.#onRow = onRow;
  }

  /** Takes the next packet, which stands from `start` to `end`; true when it was the last. Throws where it can be none. */
  readAnswer(buffer: Buffer, start: number, end: number): boolean {
    if (buffer[start] === marks.error) {
      this.failure ??= toMysqlError(errorOf(buffer, start, end));
      return true;
    }
    switch (this.#part) {
      case 'rows':
        return this.#row(buffer, start, end);
      case 'columns':
        return this.#describe(buffer, start, end);
      case 'divider':
        checkDivider(buffer, start, end);
        this.#part = 'rows';
        this.#transcode = this.#receiver.direct && this.columns?.transcoderOf(this.#receiver.direct.fields);
        return false;
      case 'head':
        return this.#begin(buffer, start);
    }
  }

  /** Without columns there are only counts. */
  #begin(buffer: Buffer, start: number): boolean {
    this.#expected = lengthAt(buffer, start);
    this.#part = 'columns';
    if (this.#expected > 0) return false;
    this.rows += 1;
    try {
      writeCounts(buffer, start + 1);
      this.#sink.row(bytes.buffer, 0, bytes.length);
      this.#onRow?.(bytes.length);
    } catch (error) {
      this.failure = error;
    }
    return true;
  }

  #describe(buffer: Buffer, start: number, end: number): false {
    const index = this.#described++;
    const descriptions = this.columns?.descriptions ?? [];
    const before = descriptions.length === this.#expected ? descriptions[index] : undefined;
    const isSame = before !== undefined && buffer.compare(before, 0, before.length, start, end) === 0;
    if (!isSame) this.#anew ??= descriptions.slice(0, index);
    this.#anew?.push(Buffer.from(buffer.subarray(start, end)));
    if (this.#described === this.#expected) this.#settleColumns();
    return false;
  }

  #settleColumns(): void {
    this.#part = 'divider';
    const descriptions = this.#anew;
    if (descriptions === undefined) return;
    this.columns = undefined;
    try {
      this.columns = knownColumns(descriptions);
    } catch (error) {
      this.failure = error;
    }
  }

  #row(buffer: Buffer, start: number, end: number): boolean {
    if (buffer[start] !== marks.ok) {
      checkDivider(buffer, start, end);
      if (this.#receiver.direct !== undefined) this.columns?.count(this.#receiver.direct.fields, this.rows);
      if (this.#receiver !== this.#sink) this.#sink.received?.(this.rows);
      return true;
    }
    if (this.failure !== undefined) return false;
    try {
      this.rows += 1;
      if (this.#transcode !== undefined) this.#receiver.direct?.item(this.#transcode, buffer, start);
      else {
        this.columns?.writeRow(bytes, buffer, start);
        this.#receiver.row(bytes.buffer, 0, bytes.length);
      }
      this.#onRow?.(end - start);
    } catch (error) {
      this.failure = error;
    }
    return false;
  }
}

/** Writes the row of an answer without rows: that it ran, the number of rows found, and the first generated key. */
function writeCounts(buffer: Buffer, offset: number): void {
  const found = integerAt(buffer, offset);
  const key = integerAt(buffer, offset + widthOf(buffer[offset] ?? 0));
  bytes.clear();
  for (const text of ['1', String(found), String(key)]) {
    bytes.int32(text.length);
    bytes.characters(text);
  }
}

function checkDivider(buffer: Buffer, start: number, end: number): void {
  const isOne = buffer[start] === marks.end && end - start <= divider.most;
  if (!isOne || ((buffer[start + divider.status] ?? 0) & divider.more) !== 0) {
    throw new Error('An answer of the database is none that was asked for.');
  }
}

/** The form of the driver's errors: the number, five characters after `#`, and the message. */
function errorOf(buffer: Buffer, start: number, end: number): Error {
  const state = buffer.toString('latin1', start + 4, start + 9);
  const message = buffer.toString('utf8', start + 9, end);
  return Object.assign(new Error(message), { errno: buffer.readUInt16LE(start + 1), sqlState: state });
}
