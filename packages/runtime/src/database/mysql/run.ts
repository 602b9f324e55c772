import type { PoolConnection } from 'mysql2';
import type { RowSink } from '../database.ts';
import { lineOf } from './line.ts';
import type { SentParameter } from './parameters.ts';

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
  onRow?: () => void,
): Running {
  let rows = 0;
  const count = (): void => {
    rows += 1;
    onRow?.();
  };
  const done = new Promise<void>((resolve, reject) => {
    const settled = (error: unknown): void => (error === undefined ? resolve() : reject(error));
    lineOf(connection).run({ text, parameters, sink, onRow: count, settled });
  });
  return { done, rows: () => rows };
}
