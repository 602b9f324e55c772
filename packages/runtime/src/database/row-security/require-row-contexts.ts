import { PlatformError } from '../../errors.ts';
import type { Database, Statement, Transaction } from '../database.ts';

/**
 * A database on which every statement of requests names its side. One that does not is refused, because policies would
 * judge the connection in place of the caller.
 */
export function requireRowContexts(database: Database): Database {
  const checked = new WeakSet<Transaction>();

  /** Transactions that requests share are compared by identity, so that the same object gets another method. */
  function check(transaction: Transaction): Transaction {
    if (checked.has(transaction)) return transaction;
    checked.add(transaction);
    const send = transaction.run.bind(transaction);
    transaction.run = (statement, ...rest) => refusal(statement) ?? send(statement, ...rest);
    return transaction;
  }

  return {
    ...database,
    read: (statement, ...rest) => refusal(statement) ?? database.read(statement, ...rest),
    stream: (statement, ...rest) => refusal(statement) ?? database.stream(statement, ...rest),
    transaction: (work) => database.transaction((transaction) => work(check(transaction))),
    briefTransaction: (work, ...rest) => database.briefTransaction((transaction) => work(check(transaction)), ...rest),
  };
}

function refusal({ runsAs, text }: Statement): Promise<never> | undefined {
  if (runsAs !== undefined) return undefined;
  const cause = new Error(`A statement has no side: ${text.slice(0, 100)}`);
  return Promise.reject(new PlatformError('INTERNAL_SERVER_ERROR', undefined, {}, { cause }));
}
