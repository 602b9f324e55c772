/**
 * Lists of documents that are too large to be read like others. GraphQL answers are collected before they are sent, so
 * the size that one operation may collect is bounded. Its large lists are read one after the other, in batches, on a
 * connection of their own, so that other requests are answered meanwhile.
 */
import type { IncomingMessage } from 'node:http';
import type { Database, Parameter, Statement } from '../../database/database.ts';
import { invalidQuery, type PlatformError } from '../../errors.ts';
import { type ClientBytes, tooMuchUnsent } from '../../limits/unsent.ts';
import type { CollectedRows } from '../spliced.ts';

/** Bytes that the large lists of one operation come to at most. */
const maxBytes = 64 * 1024 ** 2;

/** Reads one list. Rejects with INVALID_QUERY when the lists of the operation come to too much. */
export type ReadLarge = (statement: Statement, parameters: readonly Parameter[], rows: CollectedRows) => Promise<void>;

/** Counts what waits for the client of a request. */
export type UnsentOf = (request: IncomingMessage) => ClientBytes;

/** Makes what reads the large lists of one operation; they end when its client leaves. */
export function createLargeLists(
  database: Pick<Database, 'stream'>,
  request: IncomingMessage,
  unsentOf: UnsentOf | undefined,
  late: ((request: IncomingMessage, statement: Statement) => Statement) | undefined,
): ReadLarge {
  const { socket } = request;
  const unsent = unsentOf?.(request);
  let left = maxBytes;
  let turn: Promise<unknown> = Promise.resolve();

  async function read(...[statement, parameters, rows]: Parameters<ReadLarge>): Promise<void> {
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    socket.once('close', leave);
    let counted = 0;
    const drained = async (): Promise<void> => {
      unsent?.add(rows.bytes - counted);
      counted = rows.bytes;
      if (unsent?.hasRoomBeside(counted) === false) throw tooMuchUnsent();
      if (rows.bytes <= left) return;
      left = 0;
      throw tooLarge();
    };
    if (left === 0) throw tooLarge();
    try {
      await unsent?.room();
      const sent = late?.(request, statement) ?? statement;
      await database.stream(sent, parameters, rows, drained, gone.signal, unsent?.client);
      await drained();
      left -= rows.bytes;
    } finally {
      unsent?.add(-counted);
      socket.off('close', leave);
    }
  }

  return (...list) => {
    const mine = turn.then(() => read(...list));
    turn = mine.catch(() => {});
    return mine;
  };
}

function tooLarge(): PlatformError {
  return invalidQuery(`The answer is larger than ${maxBytes} bytes; ask for fewer items.`);
}
