/** Small queries of our own, whose rows are wanted as texts. */

import { int32 } from '../../json/bytes.ts';

/** One row with its columns as texts; null where a column is null. */
export type TextRow = readonly (string | null)[];

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
