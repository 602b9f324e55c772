import type { PoolConnection, ResultSetHeader, TypeCastField, TypeCastNext } from 'mysql2';
import type { RowSink } from '../database.ts';
import { toMysqlError } from './errors.ts';
import { nestedColumn, writeNested } from './nested.ts';
import type { SentParameter } from './parameters.ts';
import { RowBytes } from './row-bytes.ts';

/** One column as the driver hands it over: its bytes, a nested value, or the number of a count. */
type Cell = Buffer | number | bigint | null | { readonly nested: Buffer };

/** What becomes of a run. */
export interface Running {
  /** Resolves when all rows have been handed over; rejects with an error of the server, the connection or the sink. */
  readonly done: Promise<void>;
  /** Rows so far. */
  rows(): number;
}

/** Runs a statement by the binary protocol and hands each row to the sink as PostgreSQL would send it. */
export function run(
  connection: PoolConnection,
  text: string,
  parameters: readonly SentParameter[],
  sink: RowSink,
  onRow: () => void = () => {},
): Running {
  const bytes = new RowBytes();
  let rows = 0;
  const done = new Promise<void>((resolve, reject) => {
    let failure: unknown;
    const query = connection.execute({ sql: text, rowsAsArray: true, typeCast }, [...parameters]);
    query.on('result', (row: unknown) => {
      // Rows behind a failure of the sink are read past, so that the connection can be used again.
      if (failure !== undefined) return;
      try {
        rows += 1;
        deliver(bytes, isRow(row) ? row : countsOf(row), sink);
        onRow();
      } catch (error) {
        failure = error;
      }
    });
    query.on('error', (error: unknown) => reject(toMysqlError(error)));
    query.on('end', () => (failure === undefined ? resolve() : reject(failure)));
  });
  return { done, rows: () => rows };
}

/** What a statement answers that gives no rows: that it ran, the rows that it found, and the first key of its making. */
function countsOf(header: unknown): readonly Cell[] {
  const { affectedRows, insertId } = header as Pick<ResultSetHeader, 'affectedRows' | 'insertId'>;
  return ['1', String(affectedRows), String(insertId)].map((text) => Buffer.from(text));
}

function isRow(row: unknown): row is readonly Cell[] {
  return Array.isArray(row);
}

function typeCast(field: TypeCastField, next: TypeCastNext): unknown {
  // Counts are numbers; whatever else is selected is a text or bytes.
  if (['TINY', 'LONG', 'LONGLONG'].includes(field.type)) return next();
  const bytes = field.buffer();
  return bytes !== null && field.name === nestedColumn ? { nested: bytes } : bytes;
}

function deliver(bytes: RowBytes, row: readonly Cell[], sink: RowSink): void {
  bytes.clear();
  for (const cell of row) {
    if (cell === null) bytes.int32(-1);
    else if (Buffer.isBuffer(cell)) {
      bytes.int32(cell.length);
      bytes.bytes(cell);
    } else if (typeof cell === 'object') writeNested(bytes, cell.nested);
    else {
      bytes.int32(8);
      bytes.int64(BigInt(cell));
    }
  }
  sink.row(bytes.buffer, 0, bytes.length);
}
