/** Health of the server and its database. Source: scale-out notes, section 3; operations notes, section 6. */

import type { Database } from '../database/database.ts';
import { type HostReport, type HostState, type ListedHost, silenceMs } from '../database/host-state.ts';
import { inTime } from '../database/waits.ts';
import type { DriftWatch } from '../drift-watch.ts';

/** State of one part, or of the whole server. With `warn` a part of it is not served. */
type HealthStatus = 'ok' | 'warn' | 'error';

/** One checked thing, in the manner of the health+json draft. */
interface HealthCheck {
  readonly status: HealthStatus;
  /** Milliseconds the check took. */
  readonly responseTime?: number;
  /** State that the database server reports of itself. */
  readonly state?: HostState;
  /** Milliseconds that a standby lags. */
  readonly lag?: number;
  /** Each server, where there are several. */
  readonly hosts?: readonly ListedHost[];
  /** Problems, one sentence each. For administrators: they name objects of the database. */
  readonly output?: readonly string[];
}

/** The state of a server. */
type Health = Awaited<ReturnType<typeof checkAll>>;

/** Reason why a server is not ready. */
type Unready = 'starting' | 'draining' | 'database' | 'schema';

/** Answer of `/server/ready`: requests should be sent here, or the reason why not. */
export type Readiness = 'ok' | Unready;

/** Judges readiness; with the role `any` it is enough that the server can read. */
export function readinessOf({ unready, unreadable }: Health, role: string | undefined, draining: boolean): Readiness {
  if (draining) return 'draining';
  return (role === 'any' ? unreadable : unready) ?? 'ok';
}

/** Part of the drift watch that tells if the API fits the database. */
export type WatchedSchema = Pick<DriftWatch, 'drifts' | 'checked' | 'damaged' | 'refresh'>;

interface HealthOptions {
  readonly database: Pick<Database, 'load'>;
  readonly hostState: () => Promise<HostReport>;
  readonly watch: WatchedSchema;
  /** Milliseconds that the database may take. */
  readonly timeoutMs: number;
  /** DATABASE_READ_ONLY: the server is meant to read only. */
  readonly readOnly: boolean;
}

/** Milliseconds from the start of a check for which its answer serves every caller: with the silence of a server, less than two seconds. */
const cachedFor = 750;

/** Makes the health check. Callers shortly after one another share one answer, unless a server has changed. */
export function createHealth(options: HealthOptions): () => Promise<Health> {
  let latest: Promise<Health> | null = null;
  let until = 0;
  let checked: HostReport | null = null;

  async function hasChanged(): Promise<boolean> {
    if (checked?.hosts === undefined) return false;
    const { state, byReplica } = await options.hostState();
    return state !== checked.state || byReplica !== checked.byReplica;
  }

  async function check(): Promise<Health> {
    const start = performance.now();
    checked = await options.hostState();
    return checkAll(options, checked, performance.now() - start);
  }

  return async function health() {
    const isChanged = await hasChanged();
    const now = performance.now();
    if (latest === null || now >= until || isChanged) {
      // While a check runs no other one starts.
      until = Number.POSITIVE_INFINITY;
      const begun = check().finally(() => {
        if (latest === begun) until = now + cachedFor;
      });
      latest = begun;
    }
    return latest;
  };
}

async function checkAll({ database, watch, timeoutMs, readOnly }: HealthOptions, report: HostReport, ms: number) {
  const responseTime = Math.round(ms * 10) / 10;
  const refreshed = report.state === 'primary' || report.state === 'read-only' ? watch.refresh() : Promise.resolve();
  // Without the server that takes writes the tables are those that it had.
  if (report.byReplica !== true) await inTime(refreshed, Math.min(timeoutMs, silenceMs), () => {});
  const host = { ...checkHost(report, readOnly), responseTime };
  const checks = {
    database: checkRoom(host, database),
    schema: checkSchema(watch),
    connections: checkConnections(database),
  };
  const starting = watch.checked() ? null : 'starting';
  const schema = checks.schema.status === 'error' ? (starting ?? 'schema') : null;
  const reads = host.status === 'error' ? 'database' : schema;
  return {
    status: worst(host.status, checks.schema.status),
    checks,
    /** True if a part of the requests is refused that was not meant to be. */
    isUnavailable: worst(host.status, checks.schema.status) === 'error' || report.byReplica === true,
    /** Reason why the server takes no requests at all; null if there is none. */
    unready: host.status === 'warn' ? 'database' : reads,
    /** The same of requests that only read. */
    unreadable: reads,
  } as const;
}

export function worst(...statuses: readonly HealthStatus[]): HealthStatus {
  return (['error', 'warn'] as const).find((status) => statuses.includes(status)) ?? 'ok';
}

const sentences: Readonly<Record<Exclude<HostState, 'primary'>, string>> = {
  'read-only': 'The database server only reads: it is a standby, or set to be read-only.',
  joining: 'The database server is starting, or catches up with its cluster.',
  'no-quorum': 'The database server has lost the other nodes of its cluster.',
  away: 'The database does not answer.',
};

function checkHost({ bySetting: _, byReplica, problem, ...report }: HostReport, readOnly: boolean): HealthCheck {
  const { state } = report;
  if (byReplica === true) {
    return { status: 'warn', ...report, output: ['No database server takes writes: a replica answers reads.'] };
  }
  // A former primary still calls itself one in the list of hosts.
  if (state === 'primary' && !readOnly) return { status: 'ok', ...report, ...(problem && { output: [problem] }) };
  if (readOnly && (state === 'primary' || state === 'read-only')) {
    return { status: 'warn', ...report, output: ['The server only reads: DATABASE_READ_ONLY is set.'] };
  }
  return { status: 'error', ...report, ...(state !== 'primary' && { output: [problem ?? sentences[state]] }) };
}

/** Warns administrators where writes find no room: the server reads, and takes the writes for which there is some. */
function checkRoom(host: HealthCheck, database: Pick<Database, 'load'>): HealthCheck {
  const { full } = database.load?.() ?? {};
  if (full === undefined) return host;
  const [first, latest] = [full.since, full.latest].map((time) => Math.round((Date.now() - time) / 1000));
  const sentence = `Writes fail because the disk of the database is full: the first ${first} s ago, the latest ${latest} s ago, and none has succeeded since.`;
  return { ...host, status: worst(host.status, 'warn'), output: [...(host.output ?? []), sentence] };
}

/** A closed collection does not affect the others; the platform's own tables are used by all. */
function checkSchema(watch: WatchedSchema): HealthCheck {
  if (!watch.checked()) return { status: 'error', output: ['The database has not been compared with the API yet.'] };
  const drifts = watch.drifts();
  const output = drifts.map(({ object, message }) => `${object}: ${message}`);
  if (output.length === 0) return { status: 'ok' };
  const closing = drifts.filter(({ severity }) => severity === 'error');
  if (closing.length === 0) return { status: 'ok', output };
  return { status: watch.damaged() ? 'error' : 'warn', output };
}

/** Waits shorter than this are none: a connection is given back in time. */
const longWaitMs = 500;

/** Warns if requests wait for connections; only a warning, since others are answered. */
function checkConnections(database: Pick<Database, 'load'>): HealthCheck {
  const { connections, streams, publicQueue } = database.load?.() ?? {};
  const others = `while ${streams?.running} of at most ${streams?.maxCount} are under way`;
  const waits = [
    { waited: connections, text: 'requests wait for a connection' },
    { waited: streams, text: `streamed answers wait ${others}` },
    { waited: publicQueue, text: 'reads of callers without a token wait for their turn' },
  ];
  const output = waits.flatMap(({ waited, text }) =>
    waited === undefined || waited.longestMs < longWaitMs
      ? []
      : `${waited.waiting} ${text}; the longest wait of late was ${waited.longestMs} ms.`,
  );
  return output.length === 0 ? { status: 'ok' } : { status: 'warn', output };
}
