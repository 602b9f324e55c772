/** PostgreSQL servers reached over the network or a socket. */

import type pg from 'pg';
import { RowLengths } from '../../database/batch-size.ts';
import type {
  ChooseText,
  KeyList,
  ServerState,
  StatementRequest,
  TableFacts,
  TransactionRunner,
} from '../../database/connection-seams.ts';
import type { Database, Parameter, Statement } from '../../database/database.ts';
import { PoolingError, UnfitError } from '../../database/errors.ts';
import { type RowContext, type RunsAs, rowContextOf, serverSide } from '../../database/row-context.ts';
import { findOrCreate } from '../../language/values/once.ts';
import type { ConnectOptions } from '../server-dialect.ts';
import { cancelBackend, connectClient } from './driver/client.ts';
import { type Closed, connectFitting, type Open, openConnection, type PostgresConnection } from './driver/connect.ts';
import { runIdentified } from './driver/identified.ts';
import { answerTimeout, type PostgresSettings, postgresSettings, transactionSql } from './driver/options.ts';
import { Pool } from './driver/pool.ts';
import { PipelineDepth, readTexts } from './driver/read.ts';
import { runStream } from './driver/stream.ts';
import { runTransaction, tryTransaction } from './driver/transaction.ts';
import { PlainConnection } from './plain/connection.ts';
import { withSettings } from './row-security.ts';

/**
 * Connects to a PostgreSQL server (12 or later) and keeps a pool of connections to it.
 *
 * Rejects with SERVICE_UNAVAILABLE when the first connection cannot be made; the error's `cause` states the attempt and
 * its result in one sentence. Connections lost later are made again without end.
 */
export function connectPostgres(options: ConnectOptions): Promise<Database> {
  const settings = postgresSettings(options);
  const plain = () => connectPlain(settings);
  if (settings.driver === 'pg') return plain();
  if (settings.driver === 'fast') return connectFast(settings, () => {});
  return connectFitting((unfit) => connectFast(settings, unfit), plain, settings.onFallback);
}

/** Bounds the wait for a lock of another transaction. */
const lockTimeout: Statement = { name: 'w_patience', text: "SET LOCAL lock_timeout = '20ms'", brief: true };

/** Statements beside one that is timed: more of them make it longer by what they use themselves. */
const maxConcurrent = 2;

/** The fast driver; `unfit` is called whenever a connection turns out not to support it. */
async function connectFast(settings: PostgresSettings, unfit: (reason: UnfitError) => void): Promise<Database> {
  const pool = new Pool(settings, async (_shared, closed) => {
    try {
      return await openConnection(settings, closed);
    } catch (error) {
      if (error instanceof UnfitError) unfit(error);
      throw error;
    }
  });
  return start(pool, settings, (statement, merges = false) => {
    return { ...statement, runsAs: forManyRows(statement.runsAs, merges) };
  });
}

/** The plain driver: one request per connection. Settings of a statement would need BEGIN, which poolers refuse. */
async function connectPlain(settings: PostgresSettings): Promise<Database> {
  const open: Open = (_shared, closed) => openPlainConnection(settings, closed);
  return start(new Pool(settings, open, new PipelineDepth(1)), settings, (statement) => statement);
}

async function start(
  pool: Pool,
  settings: PostgresSettings,
  planForMany: ServerState['planForMany'],
): Promise<Database> {
  const { wrapReads, wrapStreams, wrapTransactions, createChooser } = settings.seams;
  await pool.start();
  const timeout = answerTimeout(settings);
  const timeouts = { batch: timeout, publicBatch: settings.publicStatementTimeoutMs };
  const lengths = new RowLengths();
  const query: Database['query'] = (text, parameters, observer) =>
    readTexts((request, sink) => pool.read(request, sink), text, parameters, observer);
  const sizes = new TableSizes(query);
  const choose: ChooseText =
    createChooser?.({
      factsOf: (tables) => sizes.factsOf(tables),
      isCalm: () => pool.load.underWay <= maxConcurrent,
      planForMany,
    }) ?? ((statement) => ({ statement }));
  const read: Database['read'] = (planned, parameters, sink, client) => {
    const { statement, took } = choose(planned, parameters);
    return pool.read({ ...statement, parameters }, sink, client, took);
  };
  const transactions: TransactionRunner = {
    run: (work, tries) => runTransaction(pool, work, timeout, tries),
    attempt: (work) => tryTransaction(pool, work, timeout),
    lockTimeout,
  };
  const alone: Database['briefTransaction'] = (work) =>
    transactions.run(async (transaction) => ({ value: await work(transaction) }));
  const keyBatches = { ask: askArray, maxRunning: Number.POSITIVE_INFINITY, sent: () => pool.flush() };
  const stream: Database['stream'] = (streamed, parameters, sink, drained, signal) =>
    runStream(pool, { ...choose(streamed, parameters), parameters, sink, drained, signal }, { timeouts, lengths });
  return {
    read: wrapReads?.(read, keyBatches) ?? read,
    stream: wrapStreams?.(stream, read) ?? stream,
    transaction: (work) => transactions.run(work),
    briefTransaction: wrapTransactions?.(transactions) ?? alone,
    query,
    showPlan: ({ text }, parameters) => showPlan(settings, text, parameters.length),
    load: () => ({ connections: pool.waited, pool: pool.load }),
    roundTripMs: () => pool.load.roundTripMs,
    close: (graceMs) => pool.close(graceMs),
  };
}

/** As in a session without ours, pages out of sequence cost four times as much: the server reads tables and bitmaps in sequence. */
const inSequence = { random_page_cost: '4' };

/** Settings of callers for statements that read thousands of rows, and for those that join them in order. */
const manyRows = new WeakMap<RowContext | typeof serverSide, RowContext>();
const orderedRows = new WeakMap<RowContext | typeof serverSide, RowContext>();

function forManyRows(runsAs: RunsAs | undefined, merges: boolean): RowContext {
  const side = rowContextOf(runsAs === undefined ? {} : { runsAs }) ?? serverSide;
  return merges
    ? findOrCreate(orderedRows, side, () => withSettings(runsAs, 'merging', { ...inSequence, enable_hashjoin: 'off' }))
    : findOrCreate(manyRows, side, () => withSettings(runsAs, 'many', inSequence));
}

/** Keys that have one text each need no quotes. */
function askArray(
  { statement, at: position }: KeyList,
  keys: readonly string[],
  parameters: readonly Parameter[],
): StatementRequest {
  return { statement, parameters: parameters.with(position, `{${keys.join()}}`) };
}

/** Milliseconds that connecting, and every statement, may take, and a lock of a table. */
const timeoutMs = 2_000;
const lockTimeoutMs = 500;

/** The first version that plans a statement without its values. */
const genericPlans = 160_000;

/** Plan of a statement with so many parameters, on a connection of its own. Rejects where there is none in time. */
async function showPlan(settings: PostgresSettings, text: string, parameters: number): Promise<string> {
  const patient = { ...settings, connectTimeoutMs: timeoutMs };
  const config = { application_name: settings.applicationName, query_timeout: 2 * timeoutMs };
  const { client } = await connectClient(patient, config, async () => {});
  const ask = async (sql: string): Promise<readonly unknown[]> =>
    (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows.map(([value]) => value);
  try {
    await ask('BEGIN');
    await ask(transactionSql({ statementTimeoutMs: timeoutMs, readOnly: true }));
    await ask(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
    const [version] = await ask('SHOW server_version_num');
    if (Number(version) >= genericPlans) return (await ask(`EXPLAIN (GENERIC_PLAN) ${text}`)).join('\n');
    // A plan that is made before the values are known.
    await ask('SET LOCAL plan_cache_mode = force_generic_plan');
    await ask(`PREPARE platform_plan AS ${text}`);
    const values = parameters === 0 ? '' : `(${Array.from({ length: parameters }, () => 'NULL').join()})`;
    return (await ask(`EXPLAIN EXECUTE platform_plan${values}`)).join('\n');
  } finally {
    client.connection.stream.destroy();
  }
}

/** A pool by statements takes no BEGIN, and would run a statement under the settings of another caller. */
async function refuseStatementPools(client: pg.Client): Promise<void> {
  try {
    // One by one: both at once look like a single statement.
    await client.query('BEGIN');
    await client.query('COMMIT');
  } catch (cause) {
    const message = 'A pooler stands before the database that has no transactions, so callers cannot be passed on.';
    throw new PoolingError(message, { cause });
  }
}

/**
 * Makes a connection of the plain driver: `pg` connects, and stays in charge of it.
 *
 * Rejects with a `ConnectionError` whose message states the attempt and its result, without the password.
 */
async function openPlainConnection(settings: PostgresSettings, closed: Closed): Promise<PostgresConnection> {
  const reading = transactionSql({ ...settings, readOnly: true });
  const set = { reading, writing: transactionSql({ ...settings, readOnly: false }) };
  const config = { application_name: settings.applicationName };
  // Run once for nothing, so that a server that refuses a setting, or a pooler without a server, is known at once.
  const { client, key, learned } = await connectClient(settings, config, async ({ client }) => {
    if (settings.passesCallers) await refuseStatementPools(client);
    return runIdentified(client, reading);
  });
  const connection: PlainConnection = new PlainConnection(client, set, (error) => closed(connection, error));
  return { connection, ...learned, cancel: () => cancelBackend(client, key) };
}

/** Bytes of a table that reads as fast as some thousands of rows by their keys. */
const smallBytes = 16_777_216;
/** Milliseconds after which a size is asked for again. */
const freshMs = 10_000;
/** Lists of tables that are remembered; all are forgotten together. */
const maxRemembered = 1_000;

/** True where all tables exist, are small, and no others inherit from them; with their rows as ANALYZE counted them. */
export const sizeQuery = `SELECT bool_and(COALESCE(c.relkind = 'r' AND NOT c.relhassubclass AND pg_catalog.pg_relation_size(c.oid) <= ${smallBytes}, FALSE))::text,
  pg_catalog.string_agg(c.reltuples::text, ' ' ORDER BY t.name)
FROM pg_catalog.unnest($1::text[]) AS t (name) LEFT JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(t.name)`;

interface Queried {
  facts: TableFacts;
  queriedAt: number;
}

const unknown: TableFacts = { areSmall: false, statistics: [] };

/** Remembers sizes, and asks for them beside the statements, which never wait for that. */
class TableSizes {
  readonly #sizes = new Map<string, Queried>();
  readonly #query: Database['query'];

  constructor(query: Database['query']) {
    this.#query = query;
  }

  /** Facts of some tables as they were when last looked at; before, they count as large. */
  factsOf(tables: readonly string[], now = performance.now()): TableFacts {
    const key = tables.join();
    const queried = this.#sizes.get(key) ?? { facts: unknown, queriedAt: Number.NEGATIVE_INFINITY };
    if (now - queried.queriedAt < freshMs) return queried.facts;
    queried.queriedAt = now;
    if (this.#sizes.size >= maxRemembered) this.#sizes.clear();
    this.#sizes.set(key, queried);
    void this.#ask(tables, queried);
    return queried.facts;
  }

  async #ask(tables: readonly string[], queried: Queried): Promise<void> {
    try {
      const list = tables.map((table) => `"${table.replaceAll(/["\\]/g, String.raw`\$&`)}"`);
      const [row] = await this.#query(sizeQuery, [`{${list.join()}}`]);
      queried.facts = { areSmall: row?.[0] === 'true', statistics: row?.[1]?.split(' ').map(Number) ?? [] };
    } catch {
      // The statement itself will tell what is wrong with the database.
      queried.facts = unknown;
    }
  }
}
