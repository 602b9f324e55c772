/** Servers of one database, where there are several: whichever takes writes is the one that connections lead to. */
import type { Database } from '../database/database.ts';
import { toDatabaseError } from '../database/errors.ts';
import type { HostWatch } from '../database/host-watch.ts';
import { guardWrites } from '../database/hosts/guarded-writes.ts';
import { HostGroup } from '../database/hosts/host-group.ts';
import { serverOfFamily } from '../dialects/index.ts';
import type { DatabasePlace } from '../dialects/open.ts';
import type { ConnectOptions } from '../dialects/server-dialect.ts';
import { usualFailoverWait } from '../environment/database.ts';
import { hostUrls } from '../environment/host-list.ts';
import { hostAddress, type RenewableUrl } from '../environment/renewable-url.ts';
import type { Environment } from '../environment.ts';
import { familyOf } from '../language/index.ts';
import type { Log } from '../operate/log.ts';
import { isOutOfReach } from './late-database.ts';

/** Several servers. */
export interface DatabaseHosts {
  /** Options of connections to the one that takes writes. */
  readonly connections: Pick<ConnectOptions, 'renewable' | 'failover'>;
  /** Finds that server. Rejects with SERVICE_UNAVAILABLE when there is none in time. */
  find(): Promise<void>;
  /** Has writes wait for it. */
  watch(database: Database): HostWatch;
  close(): void;
}

/** Makes them; null where one server is all there is, and DATABASE_FAILOVER_WAIT does not ask to wait for it. */
export async function createDatabaseHosts(
  environment: Environment,
  target: DatabasePlace,
  address: RenewableUrl | undefined,
  log: () => Pick<Log, 'info' | 'warn' | 'error'>,
): Promise<DatabaseHosts | null> {
  const { failoverWait, readOnly } = environment.database;
  if (!('url' in target) || address === undefined) return null;
  const urls = hostUrls(target.url);
  if (urls.length === 1 && failoverWait === null) return null;
  const { createProbe } = serverOfFamily(familyOf(target.url));
  const probes = await Promise.all(urls.map((_, index) => createProbe(hostAddress(address, () => index))));
  const group = new HostGroup({ probes, readOnly, log });
  const waitMs = failoverWait ?? usualFailoverWait;
  let starting: Promise<void> | null = null;
  return {
    connections: { renewable: hostAddress(address, () => group.position), failover: group },
    async find() {
      starting ??= group.start();
      await starting;
      refuseUnusable(group, urls.length);
      await group.writable(performance.now() + waitMs);
    },
    watch: (database) => ({ database: guardWrites(database, group, waitMs), state: async () => group.report }),
    close: () => group.close(),
  };
}

/** Where every server refuses us, waiting does not help. */
function refuseUnusable({ errors }: HostGroup, count: number): void {
  const [first] = errors;
  if (errors.length === count && !errors.some(isOutOfReach)) throw toDatabaseError(first);
}
