import { type Connection, createConnection } from 'mysql2';
import type { RowSink } from '../../../database/database.ts';
import { ConnectionError } from '../../../database/errors.ts';
import type { SentParameter } from '../../../database/parameter-forms.ts';
import { inTime } from '../../../database/waits.ts';
import { lineOf } from './line.ts';
import { connectionOptions, cut } from './options.ts';

/**
 * Runs a statement by the binary protocol and hands each row to the sink as PostgreSQL would send it. Resolves when all
 * rows have been handed over; rejects with an error of the server, the connection or the sink. `onRow` gets the bytes
 * of each row.
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

/** The end of a wait for an answer that takes longer than one may. */
export const noAnswer = (): Promise<never> => Promise.reject(new ConnectionError('No answer in time.'));

/** Milliseconds after which the attempt is given up. */
const timeoutMs = 2_000;

/** Text that tells servers apart. */
export const serverSql = "CONCAT_WS(' ', @@hostname, @@port, @@datadir)";

/**
 * Ends a statement by a connection of its own, as servers notice lost clients late. Never rejects. That connection may
 * lead to another server than `server`, where the number is that of another connection.
 */
export async function killStatement(
  url: string,
  { threadId }: Pick<Connection, 'threadId'>,
  server: string,
): Promise<void> {
  if (!Number.isInteger(threadId)) return;
  const killer = createConnection(connectionOptions(url));
  const killed = new Promise<void>((resolve) => {
    // It may be gone by itself.
    killer.on('error', () => resolve());
    killer.query(`KILL IF(${serverSql} = ?, ${threadId}, 0)`, [server], () => resolve());
  });
  await inTime(killed, timeoutMs, () => {});
  cut(killer);
}

/** Reads the plan that EXPLAIN FORMAT=JSON gives: MariaDB leaves double quotes within texts as they are. */
export function parsePlan(json: string): unknown {
  const escaped = json.replaceAll(
    /^(\s*"\w+": ")(.*)("[,]?)$/gm,
    (_, before: string, text: string, after: string) => before + text.replaceAll(/(?<!\\)"/g, '\\"') + after,
  );
  return JSON.parse(escaped);
}
