import type { PoolConnection, ResultSetHeader } from 'mysql2';
import type { RowSink } from '../database.ts';
import { toMysqlError } from './errors.ts';
import type { SentParameter } from './parameters.ts';
import { type ColumnDefinition, createRowWriter, type RowPacket } from './raw-rows.ts';
import { RowBytes } from './row-bytes.ts';

/** The row that is being handed over: whoever takes it is through with it before the next one comes, on any connection. */
const bytes = new RowBytes();

/** Writes a row, or what a statement answers without any, as the driver gives it. */
type WriteRow = (out: RowBytes, row: unknown) => void;

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
  let rows = 0;
  const done = new Promise<void>((resolve, reject) => {
    let failure: unknown;
    let writeRow: WriteRow = writeCounts;
    const query = connection.execute(text, [...parameters]);
    readRawly(query, (columns) => {
      writeRow = createRowWriter(columns);
    });
    query.on('result', (row: unknown) => {
      // Rows behind a failure of the sink are read past, so that the connection can be used again.
      if (failure !== undefined) return;
      try {
        rows += 1;
        writeRow(bytes, row);
        sink.row(bytes.buffer, 0, bytes.length);
        onRow();
      } catch (error) {
        failure = error;
      }
    });
    const fail = (error: unknown): void => {
      connection.off('error', fail);
      reject(toMysqlError(error));
    };
    // Of a connection that ends meanwhile, only the connection tells.
    connection.on('error', fail);
    query.on('error', fail);
    query.on('end', () => {
      connection.off('error', fail);
      if (failure === undefined) resolve();
      else reject(failure);
    });
  });
  return { done, rows: () => rows };
}

/**
 * Has the driver hand over rows as they came, in place of values of its own making. It keeps connecting, preparing and
 * framing; how a command makes its parser is a method of it.
 */
function readRawly(query: object, describe: (columns: readonly ColumnDefinition[]) => void): void {
  Reflect.set(query, 'buildParserFromFields', (columns: readonly ColumnDefinition[]) => {
    describe(columns);
    return RawRows;
  });
}

/** What the driver reads rows with. */
class RawRows {
  next(packet: RowPacket): RowPacket {
    return packet;
  }
}

/** What a statement answers that gives no rows: that it ran, the rows that it found, and the first key of its making. */
function writeCounts(out: RowBytes, header: unknown): void {
  const { affectedRows, insertId } = header as Pick<ResultSetHeader, 'affectedRows' | 'insertId'>;
  out.clear();
  for (const text of ['1', String(affectedRows), String(insertId)]) {
    const cell = Buffer.from(text);
    out.int32(cell.length);
    out.bytes(cell);
  }
}
