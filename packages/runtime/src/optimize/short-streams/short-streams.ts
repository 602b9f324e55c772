import { RowLengths } from '../../database/batch-size.ts';
import type { ConnectionSeams } from '../../database/connection-seams.ts';
import { createNote, type RowSink, SignalClient } from '../../database/database.ts';
import { commonLimits } from '../../query/plan/plan-bounds.ts';
import { beyondOf, type ReadPass } from '../../query/plan/plan-read.ts';

/** Rows that a statement answers at most, where its text tells. */
export const maxRowsOf = createNote<number>('most rows');

/** Notes the rows of a statement at most, where lists in them may make it a large answer all the same. */
export const noteMaxRows: ReadPass = (plan, { query: { selector, limit, cursor } }) => {
  const isKnown = selector === 'key' || commonLimits.has(limit);
  if (plan.nested === undefined || plan.statement.brief === true || !isKnown) return plan;
  const maxRows = selector === 'key' ? 1 : Math.max(1, limit + beyondOf(cursor));
  return { ...plan, statement: maxRowsOf.on(plan.statement, maxRows) };
};

/** Runs streams whose rows were short before as reads. */
export const readShortStreams: NonNullable<ConnectionSeams['wrapStreams']> = (stream, read) => {
  const lengths = new RowLengths();
  return async (statement, parameters, sink, drained, signal) => {
    const { name } = statement;
    const maxRows = maxRowsOf.of(statement);
    if (maxRows === undefined) return stream(statement, parameters, sink, drained, signal);
    const measured = new MeasuredRows(sink);
    const isShort = lengths.fit(name, maxRows) && !signal.aborted;
    if (isShort) await read({ ...statement, apart: true }, parameters, measured, new SignalClient(signal));
    else await stream(statement, parameters, measured, drained, signal);
    lengths.note(name, measured.longest);
  };
};

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
