import { onlyHost } from '../../../database/hosts/choose-primary.ts';
import { fixedUrl } from '../../../environment/renewable-url.ts';
import { quoteLiteral } from '../../../language/index.ts';
import { unobserved } from '../../../operate/metrics/pool-metrics.ts';
import type { ConnectOptions } from '../../server-dialect.ts';

export type PostgresSettings = Required<Omit<ConnectOptions, 'notePosition' | 'positionSql'>> & {
  readonly notePosition: NonNullable<ConnectOptions['notePosition']> | null;
};

/** A transaction waits for us only while we compute. One that waits longer has lost us, and would keep its locks. */
const idleInTransactionMs = 10_000;

/** Beyond the statement timeout a server that lives has answered; the rest is for the way. */
const silenceMs = 2_000;

/** Time to wait for an answer before the connection is taken for dead, in milliseconds. */
export function answerTimeout({ statementTimeoutMs }: PostgresSettings): number {
  return statementTimeoutMs === 0 ? Number.POSITIVE_INFINITY : statementTimeoutMs + silenceMs;
}

/** Number of connections that are reserved for transactions, regardless of reads and streams: a third. */
export function connectionsForTransactions({ poolMax }: Pick<PostgresSettings, 'poolMax'>): number {
  return Math.max(1, Math.floor(poolMax / 3));
}

/** Fills in the defaults. */
export function postgresSettings(options: ConnectOptions): PostgresSettings {
  const poolMax = Math.max(options.poolMax ?? 10, 3);
  return {
    url: options.url,
    renewable: options.renewable ?? fixedUrl(options.url),
    driver: options.driver ?? 'auto',
    seams: options.seams ?? {},
    onFallback: options.onFallback ?? (() => {}),
    poolMax,
    readConnections: Math.min(Math.max(options.readConnections ?? 2, 1), poolMax - 2),
    poolTimeoutMs: options.poolTimeoutMs ?? 2_000,
    statementTimeoutMs: options.statementTimeoutMs ?? 30_000,
    publicStatementTimeoutMs: options.publicStatementTimeoutMs ?? 10_000,
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    preparedLimit: options.preparedLimit ?? 1_000,
    applicationName: options.applicationName ?? 'platform',
    failover: options.failover ?? onlyHost,
    notePosition: options.notePosition ?? null,
    passesCallers: options.passesCallers ?? false,
    poolObserver: options.poolObserver ?? unobserved,
  };
}

/**
 * The part of the configuration of a client of `pg` that its address has. `prefer`, `require` and `verify-ca` check the
 * certificate as `verify-full` does: `pg` does the same, with a warning of ten lines about later versions of it.
 */
export function addressConfig(url: string): { readonly connectionString: string } {
  const isAsIs = /[?&]uselibpqcompat=true(?:&|$)/.test(url);
  const checked = url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
  return { connectionString: isAsIs ? url : checked };
}

/** Settings of how values are read and printed. */
const forms = {
  timezone: 'UTC',
  datestyle: 'ISO',
  intervalstyle: 'iso_8601',
  extra_float_digits: '1',
  bytea_output: 'hex',
  xmloption: 'content',
  array_nulls: 'on',
} as const;

/** Sets them for one transaction, in which a change of a type makes the same values as in a session of a server. */
export const localForms = Object.entries(forms)
  .map(([name, value]) => `SET LOCAL ${name} = '${value}';`)
  .join(' ');

/** Settings that make results independent of the server's, database's and role's own, by the names that `SET` knows. */
function commonSettings({ statementTimeoutMs }: Pick<SessionSettings, 'statementTimeoutMs'>): Record<string, string> {
  return {
    ...forms,
    quote_all_identifiers: 'off',
    jit: 'off',
    statement_timeout: String(statementTimeoutMs),
  };
}

/**
 * Statements that set a session up.
 *
 * Sent after connecting and not as start-up parameters, which poolers refuse. `search_path` stays the role's own: views
 * and functions of the database rely on it, and every name of ours is qualified. Nearly all statements are run over and
 * over, where planning would cost more than a plan without a look at the values loses.
 */
export function sessionSql(settings: SessionSettings): string {
  const sets = Object.entries({
    client_encoding: 'UTF8',
    ...commonSettings(settings),
    idle_in_transaction_session_timeout: String(idleInTransactionMs),
    default_transaction_read_only: settings.readOnly ? 'on' : 'off',
    plan_cache_mode: 'force_generic_plan',
    application_name: settings.applicationName,
  }).map(([name, value]) => `SET ${name} = ${quoteLiteral(value)}`);
  return [...sets, `SELECT ${pageCost(false)}`].join('; ');
}

/**
 * One statement that does the same for the transaction it runs in, and gives one row: for connections whose session
 * belongs to others as well. `readOnly` makes it a transaction that only reads, before it has read anything.
 *
 * The encoding is not in it: `pg` asks for UTF-8 when it connects, and poolers keep that for each of their clients. One
 * call over two arrays costs the server half of what a call per setting does.
 */
export function transactionSql(settings: Pick<SessionSettings, 'statementTimeoutMs' | 'readOnly'>): string {
  const sessionSettings: Record<string, string> = settings.readOnly
    ? { transaction_read_only: 'on' }
    : { idle_in_transaction_session_timeout: String(idleInTransactionMs) };
  const requested = { ...commonSettings(settings), ...sessionSettings };
  const list = (texts: readonly string[]): string =>
    `pg_catalog.unnest(${quoteLiteral(`{${texts.join(',')}}`)}::text[])`;
  const pairs = `ROWS FROM (${list(Object.keys(requested))}, ${list(Object.values(requested))}) AS setting(name, value)`;
  return `SELECT pg_catalog.count(pg_catalog.set_config(name, value, true)), ${pageCost(true)} FROM ${pairs}`;
}

/**
 * Sets the planner's cost of a page that is not read in sequence. By default that is four times as much, as on a disk
 * that turns. PostgreSQL would then read a small table once per related row instead of looking into the index. From 1.05 on
 * it makes bitmaps of the few rows of a parent and sorts them, as long as it has no statistics. Only an untouched default is
 * replaced: a value that an operator has set, for any storage, stays.
 */
export function pageCost(local: boolean): string {
  const name = quoteLiteral('random_page_cost');
  const current = `pg_catalog.current_setting(${name})`;
  return `pg_catalog.set_config(${name}, CASE ${current} WHEN '4' THEN '1.04' ELSE ${current} END, ${local})`;
}

interface SessionSettings {
  readonly statementTimeoutMs: number;
  readonly applicationName: string;
  /** True where every transaction is one of reading. */
  readonly readOnly: boolean;
}

/** A client of `pg`, whose types are not those of published packages. */
interface Closable {
  readonly connection: { readonly stream: { destroy(): unknown } };
  end(): Promise<void>;
}

/** Says goodbye and closes the socket: a server that hangs does not close its end. */
export function leave(client: Closable): void {
  client.end().catch(() => {});
  client.connection.stream.destroy();
}
