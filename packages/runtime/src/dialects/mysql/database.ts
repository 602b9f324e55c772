import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionOptions, createConnection, createPool, type Pool, type PoolConnection } from 'mysql2';
import type { BatchReader, KeyList, StatementRequest } from '../../database/connection-seams.ts';
import {
  type Database,
  keysMark,
  type Parameter,
  type ReadClient,
  type RowSink,
  type Statement,
  type TableAccess,
} from '../../database/database.ts';
import { isRetryable, toDatabaseError } from '../../database/errors.ts';
import { onlyHost } from '../../database/hosts/choose-primary.ts';
import { collectRows, type TextRow } from '../../database/own-statements.ts';
import { formParameters, type SentParameter } from '../../database/parameter-forms.ts';
import { inTime } from '../../database/waits.ts';
import { fixedUrl, type RenewableUrl } from '../../environment/renewable-url.ts';
import { findOrCreate } from '../../language/values/once.ts';
import { unobserved } from '../../operate/metrics/pool-metrics.ts';
import type { ConnectOptions } from '../server-dialect.ts';
import { toMysqlError } from './driver/errors.ts';
import { lineOf, maxPrepared } from './driver/line.ts';
import { connectionOptions, cut } from './driver/options.ts';
import { MysqlPool } from './driver/pool.ts';
import { killStatement, noAnswer, parsePlan, run } from './driver/run.ts';
import { idleMs, inSchemaSession, setUp } from './driver/session.ts';
import { runMysqlStream } from './driver/stream.ts';
import { runMysqlTransaction } from './driver/transaction.ts';
import { executedSql } from './host-state.ts';

/** Time that an answer may take beyond the timeout of statements, in milliseconds. */
const silenceMs = 5_000;
/** Time that the first answer of a server may take, in milliseconds. */
const connectTimeoutMs = 10_000;
/** Pause before another try, in milliseconds. */
const retryPauseMs = 25;
/** Reads of several keys under way at once, in whose time more keys are gathered. */
const maxGroups = 2;

/**
 * Connects to a MySQL (8.0 or later) or MariaDB (10.6 or later) server and keeps a pool of connections to it: one request
 * per connection.
 *
 * Rejects with SERVICE_UNAVAILABLE when the first connection cannot be made.
 */
export async function connectMysql(options: ConnectOptions): Promise<Database> {
  const { renewable = fixedUrl(options.url), notePosition } = options;
  const { leased, isMariadb } = await openPool(options, renewable);
  const { seams: { wrapReads, directRows = false } = {} } = options;
  const sinkOf = directRows ? (sink: RowSink) => sink : plainSink;
  const read = (statement: ReadStatement, parameters: readonly Parameter[], sink: RowSink, client?: ReadClient) =>
    readAll(leased, statement, parameters, sinkOf(sink), client);
  const query: Database['query'] = (text, parameters, observer) =>
    collectRows((sink) => read({ text }, parameters, { ...sink, sent: (now) => observer?.sent?.(now) }));
  /** Asks for the position after a COMMIT, where there are replicas. */
  const noted = async <T>(writing: Promise<T>): Promise<T> => {
    const value = await writing;
    if (notePosition === undefined) return value;
    const rows = await query(options.positionSql?.() ?? executedSql, []).catch((): readonly TextRow[] => []);
    notePosition(rows[0]?.at(-1) || null);
    return value;
  };
  return {
    read: wrapReads?.(read, { ask: createMarks(), maxRunning: maxGroups }) ?? read,
    stream: (statement, parameters, sink, drained, signal) =>
      runMysqlStream(leased, { statement, parameters, sink: sinkOf(sink), drained, signal }),
    transaction: (work) => noted(runMysqlTransaction(leased, work)),
    briefTransaction: (work) =>
      noted(runMysqlTransaction(leased, async (transaction) => ({ value: await work(transaction) }))),
    schemaSession: (work) => inSchemaSession(renewable.current(), work),
    query,
    showPlan: (statement, parameters) =>
      showPlan(renewable.current(), isMariadb, statement.text, formParameters(parameters, statement.forms)),
    load: () => ({ connections: leased.waited, pool: leased.load }),
    // A statement that is not prepared yet takes two.
    roundTripMs: () => 2 * leased.roundTripMs,
    close: (graceMs) => leased.close(graceMs),
  };
}

async function openPool(
  options: ConnectOptions,
  renewable: NonNullable<ConnectOptions['renewable']>,
): Promise<{ readonly leased: MysqlPool; readonly isMariadb: boolean }> {
  const { poolTimeoutMs = 2_000, statementTimeoutMs = 30_000, publicStatementTimeoutMs = 10_000 } = options;
  const { failover = onlyHost } = options;
  // Two at least, so that a read never blocks a transaction.
  const poolMax = Math.max(options.poolMax ?? 10, 2);
  const answerTimeoutMs = statementTimeoutMs === 0 ? Number.POSITIVE_INFINITY : statementTimeoutMs + silenceMs;
  const pool = createPool({
    ...connectionOptions(renewable.current()),
    ...keptConnections(poolMax),
    // One more than a line keeps, so that the driver closes none: it does not know which are in use.
    maxPreparedStatements: maxPrepared + 1,
  });
  const leased = new MysqlPool(pool, {
    timeoutMs: poolTimeoutMs,
    answerTimeoutMs,
    publicTimeoutMs: publicStatementTimeoutMs === 0 ? Number.POSITIVE_INFINITY : publicStatementTimeoutMs,
    poolMax,
    observer: options.poolObserver ?? unobserved,
    kill: (connection, server) => killStatement(renewable.current(), connection, server),
    renew: () => renewPool(pool, renewable),
    failover,
  });
  failover.listen((change) => {
    if (change === 'moved') redirectPool(pool, renewable.current());
  });
  let isMariadb = false;
  try {
    isMariadb = /mariadb/i.test(await versionOf(pool));
    const opened = (connection: PoolConnection): void => {
      setUp(connection, { isMariadb, statementTimeoutMs }, leased.opened(connection));
    };
    pool.on('connection', opened);
    // The first connection asked for the version before it could be set up.
    await leased.read(false, async (connection) => opened(connection));
  } catch (error) {
    pool.end(() => {});
    throw toDatabaseError(toMysqlError(error));
  }
  return { leased, isMariadb };
}

/** Takes rows in the form that PostgreSQL sends. */
function plainSink(sink: RowSink): RowSink {
  return {
    row: (buffer, offset, length) => sink.row(buffer, offset, length),
    sent: (now, text) => sink.sent?.(now, text),
    end: (now) => sink.end?.(now),
  };
}

/** Numbers of connections at most and at rest: the driver looks for those only where one may be too many. */
function keptConnections(poolMax: number) {
  return { connectionLimit: poolMax, maxIdle: poolMax - 1, idleTimeout: idleMs, gracefulEnd: true };
}

/** Lets the pool connect to another server from now on. */
function redirectPool(pool: Pool, url: string): void {
  // Absent in the types of the driver.
  const { connectionConfig } = pool.config as { readonly connectionConfig?: ConnectionOptions };
  const { host, port, user, password, stream } = connectionOptions(url);
  Object.assign(connectionConfig ?? {}, { host, port, user, password, ...(stream !== undefined && { stream }) });
}

/** Lets the pool connect by another password, where there is one. */
function renewPool(pool: Pool, renewable: RenewableUrl): boolean {
  // Absent in the types of the driver.
  const { connectionConfig } = pool.config as { readonly connectionConfig?: ConnectionOptions };
  const url = renewable.current();
  const tried = connectionOptions(url);
  const isOutdated = connectionConfig?.password !== tried.password || connectionConfig?.user !== tried.user;
  const other = isOutdated ? url : renewable.renew(url);
  if (connectionConfig === undefined || other === null) return false;
  const { user, password } = connectionOptions(other);
  Object.assign(connectionConfig, { user, password });
  return true;
}

/** Asks on the first connection. A proxy before a server that hangs may accept it, but answers nothing on it. */
function versionOf(pool: Pool): Promise<string> {
  return new Promise((resolve, reject) => {
    pool.getConnection((failure, connection) => {
      if (failure) return reject(failure);
      const silence = setTimeout(() => {
        cut(connection);
        reject(Object.assign(new Error('The server does not answer.'), { code: 'ETIMEDOUT' }));
      }, connectTimeoutMs);
      connection.query({ sql: 'SELECT VERSION()', rowsAsArray: true }, (error, rows) => {
        clearTimeout(silence);
        connection.release();
        if (error) reject(error);
        else resolve(JSON.stringify(rows));
      });
    });
  });
}

type ReadStatement = Pick<Statement, 'text' | 'forms' | 'isPublic'>;

/** Twice more where nothing was delivered: reading again does no harm. */
const maxRetries = 2;

async function readAll(
  pool: MysqlPool,
  { text, forms, isPublic = false }: ReadStatement,
  parameters: readonly Parameter[],
  sink: RowSink,
  client?: ReadClient,
): Promise<void> {
  for (let tries = 0; ; tries++) {
    let rows = 0;
    try {
      await pool.read(
        isPublic,
        (connection) => {
          const send = (): Promise<void> => {
            sink.sent?.(performance.now());
            return run(connection, text, formParameters(parameters, forms), sink, () => rows++);
          };
          return pool.settingUp(connection)?.then(send) ?? send();
        },
        client,
      );
      sink.end?.();
      return;
    } catch (error) {
      if (tries === maxRetries || rows > 0 || !isRetryable(error)) throw toDatabaseError(error);
    }
    await sleep(retryPauseMs);
  }
}

/** Numbers of keys that statements take: few, so that few are prepared. The last key is said again where there are less. */
const sizes = [4, 8, 16, 32] as const;

/** Makes the function that writes one placeholder for each of several keys. */
function createMarks(): BatchReader['ask'] {
  const statements = new WeakMap<Statement, Map<number, Statement>>();

  function statementFor({ statement, at: position }: KeyList, size: number): Statement {
    const bySize = findOrCreate(statements, statement, () => new Map<number, Statement>());
    return findOrCreate(bySize, size, () => spreadMarks(statement, position, size));
  }

  return (batch, keys, parameters): StatementRequest => {
    const size = sizes.find((candidate) => keys.length <= candidate) ?? keys.length;
    const padded = [...keys, ...Array<string>(size - keys.length).fill(keys.at(-1) ?? '')];
    return { statement: statementFor(batch, size), parameters: spread(parameters, batch.at, padded) };
  };
}

function spreadMarks(statement: Statement, offset: number, size: number): Statement {
  const text = statement.text.replace(keysMark, Array(size).fill('?').join(', '));
  const { forms } = statement;
  const form = forms?.[offset];
  if (forms === undefined || form === undefined) return { ...statement, text };
  return { ...statement, text, forms: spread(forms, offset, Array(size).fill(form)) };
}

function spread<T>(list: readonly T[], offset: number, others: readonly T[]): readonly T[] {
  return [...list.slice(0, offset), ...others, ...list.slice(offset + 1)];
}

/** Milliseconds that connecting and the plan may take each, and seconds that a lock may. */
const timeoutMs = 2_000;
const lockSeconds = 1;

/** Asks for the plan on a connection of its own; takes only names of tables and keys, ways and counts of rows. */
async function showPlan(
  url: string,
  isMariadb: boolean,
  text: string,
  parameters: readonly SentParameter[],
): Promise<readonly TableAccess[]> {
  const connection = createConnection({ ...connectionOptions(url), connectTimeout: timeoutMs });
  // Each statement reports the error to its caller.
  connection.on('error', () => undefined);
  const within = <T>(work: Promise<T>): Promise<T> => inTime(work, timeoutMs, noAnswer);
  try {
    await within(
      new Promise<void>((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve()))),
    );
    setUp(connection, { isMariadb, statementTimeoutMs: timeoutMs });
    const locks = `lock_wait_timeout = ${lockSeconds}, innodb_lock_wait_timeout = ${lockSeconds}`;
    await within(lineOf(connection).order(`SET SESSION ${locks}`));
    const explained = collectRows((sink) => run(connection, `EXPLAIN FORMAT=JSON ${text}`, parameters, sink));
    const rows = await within(explained);
    return [...tablesIn(parsePlan(rows[0]?.[0] ?? 'null'))];
  } finally {
    cut(connection);
  }
}

/** Every object of the plan that reads a table. Names of the members differ between versions. */
function* tablesIn(plan: unknown): Generator<TableAccess> {
  if (typeof plan !== 'object' || plan === null) return;
  const members = new Map<string, unknown>(Object.entries(plan));
  const text = (name: string): string | undefined => {
    const value = members.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  const table = text('table_name');
  if (table !== undefined) {
    const rows = members.get('rows') ?? members.get('rows_examined_per_scan') ?? members.get('estimated_rows');
    yield {
      table,
      access: text('access_type'),
      key: text('key') ?? text('index_name'),
      rows: typeof rows === 'number' ? rows : undefined,
    };
  }
  for (const member of members.values()) yield* tablesIn(member);
}
