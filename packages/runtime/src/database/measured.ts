/** Adds the time of statements to the record of the request that runs them. */
import { currentRecord } from '../operate/request-record.ts';
import type { Database } from './database.ts';

/** A database whose statements are measured; while no request is under way nothing is. */
export function measureDatabase(database: Database): Database {
  return {
    ...database,
    read(statement, parameters, sink, findClient) {
      return measured(database.read(statement, parameters, sink, findClient));
    },
    stream(statement, parameters, sink, drained, signal, client) {
      const record = currentRecord();
      const drainedLater = async (): Promise<void> => {
        const start = performance.now();
        await drained();
        // The time of the client is none of the database.
        if (record !== undefined) record.databaseMs -= performance.now() - start;
      };
      return measured(database.stream(statement, parameters, sink, drainedLater, signal, client));
    },
    transaction: (work) => measured(database.transaction(work)),
    briefTransaction: (work, rows) => measured(database.briefTransaction(work, rows)),
  };
}

/** Measures beside the promise, so that its taker does not wait a turn longer. */
function measured<T>(running: Promise<T>): Promise<T> {
  const record = currentRecord();
  if (record === undefined) return running;
  const start = performance.now();
  const ended = (): void => {
    record.databaseMs += performance.now() - start;
  };
  running.then(ended, ended);
  return running;
}
