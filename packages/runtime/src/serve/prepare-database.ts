/** The database of a server: how it is reached, which of its servers is asked, and where changes of rules are heard. */
import type { Database } from '../database/database.ts';
import { type HostWatch, watchHost } from '../database/host-state.ts';
import { withoutWrites } from '../database/hosts/guarded-writes.ts';
import { createSlowLog } from '../database/slow-log.ts';
import { serverOf } from '../dialects/index.ts';
import { type OpenOptions, openDatabase } from '../dialects/open.ts';
import type { Listener } from '../dialects/server-dialect.ts';
import { fixedUrl, hostUrls, type RenewableUrl } from '../environment/renewable-url.ts';
import type { Environment } from '../environment.ts';
import { type CompiledApi, modelChannel } from '../language/index.ts';
import { describeCause, type Log } from '../operate/log.ts';
import { connectionsOf } from '../optimize/index.ts';
import { createDatabaseHosts, type DatabaseHosts } from './database-hosts.ts';
import { createLateDatabase, type LateDatabase } from './late-database.ts';
import type { ServeSetting } from './setting.ts';

/** The database before it is opened. */
export interface PreparedDatabase {
  readonly late: LateDatabase;
  /** Database of requests; with DATABASE_READ_ONLY it refuses writes. */
  readonly database: Database;
  readonly watched: HostWatch;
  /** Null where one server is all there is. */
  readonly hosts: DatabaseHosts | null;
  /** Hears of changes of rules that other processes tell of; null where servers tell nothing. */
  readonly listen: ((heard: () => void) => Listener) | null;
}

/** Prepares it. Nothing is connected yet. */
export async function prepareDatabase(
  api: CompiledApi,
  { environment, location, address, instruments }: ServeSetting,
  log: () => Pick<Log, 'info' | 'warn' | 'error'>,
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
  return {
    late,
    database: readOnly ? withoutWrites(late.database) : watched.database,
    watched,
    hosts,
    listen:
      listen === undefined || heardAt === undefined
        ? null
        : (heard) => listen({ url: heardAt.current(), renewable: heardAt, channel: modelChannel, heard }),
  };
}

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
