/** The database of a server: how it is reached, which of its servers is asked, and where changes of rules are heard. */

import { randomBytes } from 'node:crypto';
import type { Database, Statement, Transaction } from '../database/database.ts';
import { toDatabaseError } from '../database/errors.ts';
import { type HostReport, type HostWatch, type RoomChannel, watchHost, watchRoom } from '../database/host-state.ts';
import type { Failover } from '../database/hosts/choose-primary.ts';
import { HostGroup, usualLookMs } from '../database/hosts/host-group.ts';
import { type KnownHistory, LagMeter, Positions } from '../database/hosts/positions.ts';
import { Replica } from '../database/hosts/replicas.ts';
import { guardWrites, leastBusy, type RoutingOptions, routeReads, withoutWrites } from '../database/hosts/routing.ts';
import { createSlowLog } from '../database/slow-log.ts';
import { serverOf, serverOfFamily } from '../dialects/index.ts';
import { type DatabasePlace, type OpenOptions, openDatabase } from '../dialects/open.ts';
import type { ConnectOptions, Listener } from '../dialects/server-dialect.ts';
import { usualFailoverWait } from '../environment/database.ts';
import { fixedUrl, hostAddress, hostUrls, type RenewableUrl } from '../environment/renewable-url.ts';
import type { Environment } from '../environment.ts';
import { PlatformError } from '../errors.ts';
import { cookieAttributes } from '../http/auth/cookies.ts';
import { type Consistency, type ConsistencyOptions, createConsistency } from '../http/consistency.ts';
import { type CompiledApi, familyOf, modelChannel } from '../language/index.ts';
import { describeCause, type Log } from '../operate/log.ts';
import { connectionsOf } from '../optimize/index.ts';
import { createLateDatabase, isOutOfReach, type LateDatabase } from './late-database.ts';
import type { ServeSetting } from './setting.ts';

export interface PreparedDatabase {
  readonly late: LateDatabase;
  /** Database of requests; with DATABASE_READ_ONLY it refuses writes. */
  readonly database: Database;
  readonly watched: HostWatch;
  /** Null where one server is all there is. */
  readonly hosts: DatabaseHosts | null;
  /** Hears of changes of rules that other processes tell of; null where servers tell nothing. */
  readonly listen: ((heard: (sender?: string) => void) => Listener) | null;
}

export async function prepareDatabase(
  api: CompiledApi,
  { environment, location, address, instruments }: ServeSetting,
  log: () => Pick<Log, 'info' | 'warn' | 'error'>,
  room?: RoomChannel,
): Promise<PreparedDatabase> {
  const onFallback = (reason: Error): void =>
    log().warn({ cause: describeCause(reason) }, 'The database does not bear the fast driver. Using plain pg.');
  const passesCallers = api.rowSecurity !== undefined;
  const common = { ...connectionOptions(environment), passesCallers, onFallback, poolObserver: instruments.pool };
  const hosts = await createDatabaseHosts(environment, location, address, { log, connections: common });
  const connections: OpenOptions = { ...common, ...(address && { renewable: address, ...hosts?.connections }) };
  const late = createLateDatabase(async () => {
    await hosts?.find();
    const opened = await openDatabase(location, connections);
    const slow = createSlowLog(environment, opened, log);
    return instruments.database(hosts?.route(opened) ?? opened, api.dialect, { slow });
  });
  const { askHost, listen } = serverOf(api.dialect);
  const { poolTimeout, readOnly, listenUrl } = environment.database;
  const watched = hosts?.watch(late.database) ?? watchHost(late.database, askHost, poolTimeout);
  const heardAt = listenUrl === null ? connections.renewable : inTurn(listenUrl);
  // That of requests needs no check: a pooler in it is no mistake.
  const checks = listenUrl === null ? {} : { requests: late.database, attempted: logHearing(log) };
  return {
    late,
    database: readOnly ? withoutWrites(watched.database) : watchRoom(watched.database, room),
    watched,
    hosts,
    listen:
      listen === undefined || heardAt === undefined
        ? null
        : (heard) => listen({ url: heardAt.current(), renewable: heardAt, channel: modelChannel, heard, ...checks }),
  };
}

/** Tells once that DATABASE_LISTEN_URL is of no use, until it is. */
function logHearing(log: () => Pick<Log, 'info' | 'warn'>): (problem: Error | null) => void {
  let isDeaf = false;
  return (problem) => {
    if (problem !== null && !isDeaf) log().warn({ cause: describeCause(problem) }, deaf);
    if (problem === null && isDeaf) log().info({}, 'DATABASE_LISTEN_URL tells of changes of rules again.');
    isDeaf = problem !== null;
  };
}

const deaf =
  'DATABASE_LISTEN_URL tells of no changes of rules. The database is asked for them ten times a second instead.';

/** Tries the hosts of an address one after the other: a standby hears nothing, and refuses to listen. */
function inTurn(list: string): RenewableUrl {
  const urls = hostUrls(list);
  let tries = 0;
  if (urls.length === 1) return fixedUrl(list);
  return { current: () => urls[tries++ % urls.length] ?? list, renew: () => null };
}

function connectionOptions({ database, streams, optimizations }: Environment) {
  return {
    ...connectionsOf(optimizations, database.driver),
    poolMax: database.poolMax,
    poolTimeoutMs: database.poolTimeout,
    statementTimeoutMs: database.statementTimeout,
    publicStatementTimeoutMs: database.publicStatementTimeout,
    ...(database.streamMax !== null && { streamMax: database.streamMax }),
    ...(streams.clientMax !== null && { streamClientMax: streams.clientMax }),
  };
}

/** Several servers. */
export interface DatabaseHosts {
  readonly connections: Pick<ConnectOptions, 'renewable' | 'failover' | 'notePosition' | 'positionSql'>;
  /** Tokens that lead reads behind writes; null where there are no replicas. */
  readonly consistency: Consistency | null;
  /** Finds that server. Rejects with SERVICE_UNAVAILABLE when there is none in time. */
  find(): Promise<void>;
  /** Has replicas answer the reads that they may. */
  route(database: Database): Database;
  /** Has writes wait for the server that takes them. */
  watch(database: Database): HostWatch;
  close(): void;
}

interface HostSurroundings {
  readonly log: () => Pick<Log, 'info' | 'warn' | 'error'>;
  /** Settings of the connections to any server. */
  readonly connections: OpenOptions;
}

/** Makes them; null where one server is all there is, and DATABASE_FAILOVER_WAIT does not ask to wait for it. */
async function createDatabaseHosts(
  environment: Environment,
  target: DatabasePlace,
  address: RenewableUrl | undefined,
  { log, connections }: HostSurroundings,
): Promise<DatabaseHosts | null> {
  const { failoverWait, readOnly, readUrl, readMaxLag, readWait } = environment.database;
  if (!('url' in target) || address === undefined) return null;
  const urls = hostUrls(target.url);
  if (urls.length === 1 && failoverWait === null && readUrl === null) return null;
  const { createProbe, hasReached, positionSql } = serverOfFamily(familyOf(target.url));
  const probes = await Promise.all(urls.map((_, index) => createProbe(hostAddress(address, () => index))));
  const lag = new LagMeter(hasReached);
  const waitMs = failoverWait ?? usualFailoverWait;
  const { lookMs, maxLagMs } = looksFor(readMaxLag);
  const group = new HostGroup({ probes, readOnly, waitMs, lookMs, log, onLook: (facts) => lag.note(facts) });
  const openReplica = async (url: string, index: number): Promise<Replica> => {
    const open = (failover: Failover) => openDatabase({ url }, { ...connections, renewable: fixedUrl(url), failover });
    const options = { number: index + 1, lookMs, maxLagMs, open, probe: await createProbe(fixedUrl(url)) };
    return new Replica(options, { lag, log, followed: () => group.known });
  };
  const replicas = await Promise.all((readUrl === null ? [] : hostUrls(readUrl)).map(openReplica));
  const history: KnownHistory = () =>
    group.known && { system: group.known.system ?? '', timeline: group.known.timeline ?? 0 };
  const positions = replicas.length === 0 ? null : new Positions(hasReached, history);
  const routing: RoutingOptions = {
    ...{ replicas, waitMs: readWait, hasReached, hasPrimary: () => group.isSettled },
    askPosition: async (database, sql = positionSql, parameters = []) =>
      (await database.query(sql, parameters))[0]?.at(-1) || null,
  };
  let starting: Promise<unknown> | null = null;
  return {
    connections: {
      renewable: hostAddress(address, () => group.position),
      failover: group,
      ...(positions && {
        positionSql: () => group.known?.positionSql?.written,
        notePosition: (position) => positions.note(group.known?.hasPosition === true ? position : null),
      }),
    },
    consistency:
      positions &&
      createConsistency({
        ...consistencyOptions(environment),
        ...{ history, hasReached, hasPrimary: () => group.isSettled },
      }),
    async find() {
      starting ??= group.start().then(() => Promise.all(replicas.map((replica) => replica.start())));
      await starting;
      refuseUnusable(group, urls.length);
      await group.writable(performance.now() + waitMs);
    },
    route: (database) => (replicas.length === 0 ? database : routeReads(database, routing)),
    watch: (database) => ({
      database: guardWrites(database, group, { waitMs, positions }),
      state: async () => stateOf(group, replicas),
    }),
    close: () => group.close(),
  };
}

/** Looks at servers, and the lag that one may have at a look; with both it is never later than `readMaxLag`. */
function looksFor(readMaxLag: number): { readonly lookMs: number; readonly maxLagMs: number } {
  const lookMs = Math.min(usualLookMs, Math.max(leastLookMs, readMaxLag / 4));
  return { lookMs, maxLagMs: Math.max(0, readMaxLag - 2 * lookMs) };
}

const leastLookMs = 100;

function consistencyOptions({
  auth,
}: Environment): Pick<ConsistencyOptions, 'secret' | 'sessionCookie' | 'cookieAttributes'> {
  return {
    // Without users the processes share no secret; tokens of another one then lead to the server that takes writes.
    secret: auth.secret ?? randomBytes(32).toString('base64url'),
    ...{ sessionCookie: auth.cookie.name, cookieAttributes: cookieAttributes(auth.cookie) },
  };
}

/** The state of all: with replicas that answer, one without a server that takes writes still reads. */
function stateOf(group: HostGroup, replicas: readonly Replica[]): HostReport {
  const hosts = [
    ...group.reports.map((report) => ({ role: 'write' as const, ...report })),
    ...replicas.map(({ report }) => ({ role: 'read' as const, ...report })),
  ];
  const isRead = !group.isSettled && leastBusy({ replicas }, new Set()) !== undefined;
  return { ...(isRead ? { state: 'read-only', byReplica: true } : group.report), hosts };
}

/** Throws where every server refuses us: waiting does not help. */
function refuseUnusable({ errors }: HostGroup, count: number): void {
  const [first] = errors;
  if (errors.length === count && !errors.some(isOutOfReach)) throw toDatabaseError(first);
}

/** A database on which statements of requests must name their side: policies would judge the connection instead. */
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
