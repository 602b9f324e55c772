import type { Connection } from 'mysql2';
import type { RowSink } from '../../../database/database.ts';
import type { SentParameter } from '../../../database/parameter-forms.ts';
import { lineOf } from './line.ts';

/**
 * Runs a statement by the binary protocol and hands each row to the sink as PostgreSQL would send it. Resolves when all
 * rows have been handed over; rejects with an error of the server, the connection or the sink. `onRow` is called after
 * each row, with its bytes.
 */
export function run(
  connection: Connection,
  text: string,
  parameters: readonly SentParameter[],
  sink: RowSink,
  onRow?: (bytes: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settled = (error: unknown): void => (error === undefined ? resolve() : reject(error));
    lineOf(connection).run({ text, parameters, sink, onRow, settled });
  });
}
