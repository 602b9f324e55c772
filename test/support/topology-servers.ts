/** Servers of a topology, on which contract tests are run by `test/topology/contract.ts` instead of one server. */

/** Hosts with their ports. */
export interface TopologyServers {
  /** The one that takes writes, which tests themselves talk to. */
  readonly primary: string;
  readonly write: readonly string[];
  readonly read: readonly string[];
}

const name = 'TOPOLOGY_SERVERS';

/** Environment of a run on these servers. */
export function onTopology(servers: TopologyServers): Readonly<Record<string, string>> {
  return { [name]: JSON.stringify(servers) };
}

/** Addresses of a database there: all servers where it lies on one of them; replicas also where a proxy stands before it. */
export function topologyAddresses(databaseUrl: string): Readonly<Record<string, string>> {
  const text = process.env[name];
  if (text === undefined || !databaseUrl.includes('@127.0.0.1:')) return { DATABASE_URL: databaseUrl };
  const { primary, write, read }: TopologyServers = JSON.parse(text);
  const onHosts = (hosts: readonly string[]): string => databaseUrl.replace(/@127\.0\.0\.1:\d+/, `@${hosts.join()}`);
  const isThere = databaseUrl.includes(`@${primary}/`);
  return {
    DATABASE_URL: isThere ? onHosts(write) : databaseUrl,
    ...(read.length > 0 && { DATABASE_READ_URL: onHosts(read) }),
  };
}
