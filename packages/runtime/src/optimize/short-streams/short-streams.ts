import { RowLengths } from '../../database/batch-size.ts';
import type { ConnectionSeams } from '../../database/connection-seams.ts';
import type { RowSink } from '../../database/database.ts';

/** Runs streams whose rows were short before as reads. */
export const readShortStreams: NonNullable<ConnectionSeams['wrapStreams']> = (stream, read) => {
  const lengths = new RowLengths();
  return async (statement, parameters, sink, drained, signal) => {
    const { name, maxRows } = statement;
    if (maxRows === undefined) return stream(statement, parameters, sink, drained, signal);
    const measured = new MeasuredRows(sink);
    const isShort = lengths.fit(name, maxRows) && !signal.aborted;
    if (isShort) await read({ ...statement, apart: true }, parameters, measured);
    else await stream(statement, parameters, measured, drained, signal);
    lengths.note(name, measured.longest);
  };
};

/** Notes the bytes of the longest row. */
class MeasuredRows implements RowSink {
  longest = 0;
  readonly #sink: RowSink;

  constructor(sink: RowSink) {
    this.#sink = sink;
  }

  row(buffer: Buffer, offset: number, length: number): void {
    if (length > this.longest) this.longest = length;
    this.#sink.row(buffer, offset, length);
  }

  sent(now: number, text?: string): void {
    this.#sink.sent?.(now, text);
  }
}
