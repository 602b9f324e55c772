/** PostgreSQL servers reached over the network or a socket. */
import type { Database } from './database.ts';
import { openConnection } from './postgres/connect.ts';
import { answerTimeout, type PostgresOptions, postgresSettings } from './postgres/options.ts';
import { Pool } from './postgres/pool.ts';
import { runStream } from './postgres/stream.ts';
import { runTransaction } from './postgres/transaction.ts';
import { readTexts } from './protocol/texts.ts';

/**
 * Connects to a PostgreSQL server (12 or later) and keeps a pool of connections to it.
 *
 * Rejects with SERVICE_UNAVAILABLE when the first connection cannot be made; the error's `cause` says in one sentence
 * what was tried and what happened. Connections lost later are made again without end.
 */
export async function connectPostgres(options: PostgresOptions): Promise<Database> {
  const settings = postgresSettings(options);
  const pool = new Pool(settings, (shared, closed) => openConnection(settings, shared, closed));
  await pool.start();
  return {
    read: (statement, parameters, sink) => pool.read({ name: statement.name, text: statement.text, parameters }, sink),
    stream: (statement, parameters, sink, drained, signal) =>
      runStream(pool, { statement, parameters, sink, drained, signal }, answerTimeout(settings)),
    transaction: (work) => runTransaction(pool, work, answerTimeout(settings)),
    query: (text, parameters) => readTexts((request, sink) => pool.read(request, sink), text, parameters),
    close: (graceMs) => pool.close(graceMs),
  };
}

export type { PostgresOptions };
