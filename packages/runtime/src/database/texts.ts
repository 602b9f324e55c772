/** Small queries of our own, whose rows are wanted as texts. */

import type { Request } from '../dialects/postgres/protocol/request.ts';
import { int32 } from '../json/bytes.ts';
import type { Parameter, RowSink } from './database.ts';

/** One row as PostgreSQL prints its columns; null where a column is null. */
export type TextRow = readonly (string | null)[];

/** Runs a query without a prepared statement of its own and collects its rows. */
export async function readTexts(
  read: (request: Request, sink: RowSink) => Promise<void>,
  text: string,
  parameters: readonly Parameter[],
): Promise<readonly TextRow[]> {
  const rows: TextRow[] = [];
  const sink: RowSink = {
    row: (buffer, offset, length) => {
      rows.push(readRow(buffer, offset, offset + length));
    },
  };
  await read({ name: '', text, parameters, format: 'text' }, sink);
  return rows;
}

/** Reads a row whose columns all arrive as text; see `RowSink.row` for the range from `start` to `end`. */
export function readRow(buffer: Buffer, start: number, end: number): TextRow {
  const columns: (string | null)[] = [];
  for (let offset = start; offset < end; ) {
    const size = int32(buffer, offset);
    columns.push(size < 0 ? null : buffer.toString('utf8', offset + 4, offset + 4 + size));
    offset += 4 + Math.max(size, 0);
  }
  return columns;
}
