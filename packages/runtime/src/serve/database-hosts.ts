/** Servers of one database, where there are several: whichever takes writes is the one that connections lead to. */
import { randomBytes } from 'node:crypto';
import type { Database } from '../database/database.ts';
import { toDatabaseError } from '../database/errors.ts';
import type { HostReport, HostWatch } from '../database/host-state.ts';
import type { Failover } from '../database/hosts/choose-primary.ts';
import { guardWrites } from '../database/hosts/guarded-writes.ts';
import { HostGroup } from '../database/hosts/host-group.ts';
import { type KnownHistory, LagMeter, Positions } from '../database/hosts/positions.ts';
import { Replica } from '../database/hosts/replicas.ts';
import { leastBusy, type RoutingOptions, routeReads } from '../database/hosts/routed-reads.ts';
import { serverOfFamily } from '../dialects/index.ts';
import { type DatabasePlace, type OpenOptions, openDatabase } from '../dialects/open.ts';
import type { ConnectOptions } from '../dialects/server-dialect.ts';
import { usualFailoverWait } from '../environment/database.ts';
import { fixedUrl, hostAddress, hostUrls, type RenewableUrl } from '../environment/renewable-url.ts';
import type { Environment } from '../environment.ts';
import { cookieAttributes } from '../http/auth/cookies.ts';
import { type Consistency, type ConsistencyOptions, createConsistency } from '../http/consistency.ts';
import { familyOf } from '../language/index.ts';
import type { Log } from '../operate/log.ts';
import { isOutOfReach } from './late-database.ts';

/** Several servers. */
export interface DatabaseHosts {
  /** Options of connections to the one that takes writes. */
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

/** Surroundings of the servers. */
interface HostSurroundings {
  readonly log: () => Pick<Log, 'info' | 'warn' | 'error'>;
  /** Settings of the connections to any server. */
  readonly connections: OpenOptions;
}

/** Makes them; null where one server is all there is, and DATABASE_FAILOVER_WAIT does not ask to wait for it. */
export async function createDatabaseHosts(
  environment: Environment,
  target: DatabasePlace,
  address: RenewableUrl | undefined,
  { log, connections }: HostSurroundings,
): Promise<DatabaseHosts | null> {
  const { failoverWait, readOnly, readUrl, readMaxLag: maxLagMs, readWait } = environment.database;
  if (!('url' in target) || address === undefined) return null;
  const urls = hostUrls(target.url);
  if (urls.length === 1 && failoverWait === null && readUrl === null) return null;
  const { createProbe, hasReached, positionSql } = serverOfFamily(familyOf(target.url));
  const probes = await Promise.all(urls.map((_, index) => createProbe(hostAddress(address, () => index))));
  const lag = new LagMeter(hasReached);
  const waitMs = failoverWait ?? usualFailoverWait;
  const group = new HostGroup({ probes, readOnly, waitMs, log, onLook: (facts) => lag.note(facts) });
  const replicas = await Promise.all(
    (readUrl === null ? [] : hostUrls(readUrl)).map(async (url) => {
      const open = (failover: Failover): Promise<Database> =>
        openDatabase({ url }, { ...connections, renewable: fixedUrl(url), failover });
      return new Replica({ probe: await createProbe(fixedUrl(url)), open }, { lag, followed: () => group.known, log });
    }),
  );
  const history: KnownHistory = () =>
    group.known && { system: group.known.system ?? '', timeline: group.known.timeline ?? 0 };
  const positions = replicas.length === 0 ? null : new Positions(hasReached, history);
  const routing: RoutingOptions = {
    ...{ replicas, maxLagMs, waitMs: readWait, hasReached, hasPrimary: () => group.isSettled },
    askPosition: async (database, sql = positionSql) => (await database.query(sql, []))[0]?.at(-1) || null,
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
      state: async () => stateOf(group, replicas, maxLagMs),
    }),
    close: () => group.close(),
  };
}

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
function stateOf(group: HostGroup, replicas: readonly Replica[], maxLagMs: number): HostReport {
  const hosts = [
    ...group.reports.map((report) => ({ role: 'write' as const, ...report })),
    ...replicas.map(({ report }) => ({ role: 'read' as const, ...report })),
  ];
  const isRead = !group.isSettled && leastBusy({ replicas, maxLagMs }, new Set()) !== undefined;
  return { ...(isRead ? { state: 'read-only', byReplica: true } : group.report), hosts };
}

/** Where every server refuses us, waiting does not help. */
function refuseUnusable({ errors }: HostGroup, count: number): void {
  const [first] = errors;
  if (errors.length === count && !errors.some(isOutOfReach)) throw toDatabaseError(first);
}
