/** Statements to PostgreSQL that must never write, also where a pooler shares the session with others. */
import type { RowContext, Statement } from '@tablewright/runtime';
import { leave, pageCost } from '@tablewright/runtime/postgres';
import type pg from 'pg';
import { firstAnswer, type Run } from '../source.ts';

/** A connection that only reads. */
export interface ReadingSession {
  readonly client: pg.Client;
  readonly run: Run;
  /** Runs a statement under settings that hold for it alone: of the planner (`enable_seqscan = off`), and of a caller. */
  readonly runUnder: (settings: StatementSettings, ...statement: Parameters<Run>) => ReturnType<Run>;
  /** True if a pooler stands in between. */
  readonly isShared: boolean;
}

export interface StatementSettings {
  readonly planner: readonly string[];
  readonly caller: RowContext | undefined;
}

/** Settings of a statement that was planned for a caller, beside those of the planner. */
export function settingsOf({ runsAs }: Statement, planner: readonly string[]): StatementSettings {
  return { planner, caller: runsAs === 'server' ? undefined : runsAs };
}

/** Statements about the catalog run once. A server that compiles them (JIT) takes seconds for what it reads in a hundredth. */
const notCompiled = 'jit = off';

const noSettings: StatementSettings = { planner: [], caller: undefined };

export async function runText(client: pg.Client, ...[text, values]: Parameters<Run>): ReturnType<Run> {
  const result = await client.query<(string | null)[]>({
    text,
    values: [...values],
    rowMode: 'array',
    types: { getTypeParser: () => (value: string) => value },
  });
  return result.rows;
}

/**
 * Opens a connection that only reads. A session of its own is set up so once. Settings of a session behind a pooler
 * would also apply to the next client, which could not write any more. There every statement is a transaction; if the
 * pooler has no transactions, the session is left as it is.
 */
export async function openReading(connect: () => Promise<pg.Client>): Promise<ReadingSession> {
  const client = await connect();
  try {
    const [[pid] = []] = await firstAnswer(runText(client, 'SELECT pg_catalog.pg_backend_pid()::text', []));
    // A pooler hands out keys of its own.
    if (pid === keyOf(client)) {
      await client.query(`SET default_transaction_read_only = on; SET ${notCompiled}; SELECT ${pageCost(false)}`);
      return sessionOf(client, { isShared: false, inTransactions: false });
    }
    if (await hasTransactions(client)) return sessionOf(client, { isShared: true, inTransactions: true });
  } catch (error) {
    leave(client);
    throw error;
  }
  // The pooler closes the connection of a client that asks for a feature it lacks.
  leave(client);
  return sessionOf(await connect(), { isShared: true, inTransactions: false });
}

async function hasTransactions(client: pg.Client): Promise<boolean> {
  const begun = await client.query('BEGIN READ ONLY').then(
    () => true,
    () => false,
  );
  if (begun) await client.query('ROLLBACK');
  return begun;
}

function sessionOf(
  client: pg.Client,
  { isShared, inTransactions }: { readonly isShared: boolean; readonly inTransactions: boolean },
): ReadingSession {
  const bare: Run = (sql, parameters) => runText(client, sql, parameters);
  let last: Promise<unknown> = Promise.resolve();
  // One after the other, so that none ends the transaction of another one.
  const inTransaction = (settings: StatementSettings, ...statement: Parameters<Run>): ReturnType<Run> => {
    const done = last.then(() => transaction(client, settings, statement));
    last = done.catch(() => undefined);
    return done;
  };
  const canBegin = !isShared || inTransactions;
  return {
    client,
    isShared,
    run: inTransactions ? (...statement) => inTransaction(noSettings, ...statement) : bare,
    runUnder: canBegin ? inTransaction : (_, ...statement) => bare(...statement),
  };
}

async function transaction(
  client: pg.Client,
  { planner, caller }: StatementSettings,
  statement: Parameters<Run>,
): ReturnType<Run> {
  // Plans that are shown have the costs of those that a server runs.
  await client.query(`BEGIN READ ONLY; SET LOCAL ${notCompiled}; SELECT ${pageCost(true)}`);
  try {
    for (const setting of planner) await client.query(`SET LOCAL ${setting}`);
    if (caller !== undefined) await runText(client, caller.apply.text, caller.apply.parameters);
    return await runText(client, ...statement);
  } finally {
    await client.query('ROLLBACK').catch(() => undefined);
  }
}

/** Number of the server process, as the server sent it at sign-in. */
export function keyOf(client: pg.Client): string {
  return 'processID' in client ? String(client.processID) : '';
}
