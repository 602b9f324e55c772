/** Keeps the answer to "does the compiled API still fit the database?" current while a server runs. */
import type { Database, Statement } from './database/database.ts';
import { serverOf } from './dialects/index.ts';
import { compareFingerprint, type Drift, findLostTables, findNewColumns, isSameTable } from './drift.ts';
import { type Dialect, defaultDialect, type Fingerprint, type LiveObject, type NamedTable } from './language/index.ts';
import { describeCause, type Log } from './operate/log.ts';
import { continueOutside } from './operate/request-record.ts';

/** The lines a watch writes. Fits the logger of the web framework. */
export type DriftLog = Pick<Log, 'info' | 'warn' | 'error'>;

interface DriftWatchOptions {
  readonly database: Database;
  readonly fingerprint: Fingerprint;
  /** The server that it was taken of; `defaultDialect` when absent. */
  readonly dialect?: Dialect;
  /** The platform's own tables, as statements name them. None when absent. */
  readonly ownTables?: ReadonlySet<string>;
  /** Reads which tables the platform has made beside those of the fingerprint. None when absent. */
  readonly readMade?: () => Promise<readonly NamedTable[]>;
  /** Milliseconds between two checks; 30 seconds when absent. */
  readonly interval?: number;
  /** Tells if the model was changed since it was compiled, so that another API is about to be served. Never, when absent. */
  readonly isOutdated?: () => Promise<boolean>;
}

export interface DriftWatch {
  /** Every difference of the latest check; empty before the first. */
  drifts(): readonly Drift[];
  /** False until a check has reached the database. */
  checked(): boolean;
  /** Tables that no longer fit, as statements name them: reads and writes of one of them cannot be served. */
  closed(): ReadonlySet<string>;
  /** True when one of the platform's own tables no longer fits, or is gone. */
  damaged(): boolean;
  /** Checks once and then on a timer; resolves after the first check. Never rejects: failures are logged. */
  start(log: DriftLog): Promise<void>;
  /** Checks now, outside the rhythm. */
  check(): Promise<void>;
  /** The same where the last check was too long ago; one that takes long is not done again soon. */
  refresh(): Promise<void>;
  /** Ends the checks; one under way changes nothing any more. */
  stop(): void;
}

const defaultInterval = 30_000;

/** A check's result is reused for `freshFor` milliseconds, and for `maxLoad` times the duration of the check. */
const freshFor = 1_000;
const maxLoad = 20;

/** While something is closed, so that it opens soon after it was mended. */
const closedInterval = 5_000;
/** While another API is about to be served; it is waited for no longer than this. */
const followInterval = 500;
const maxFollow = 5_000;
const incomparable = 'The database could not be compared with the compiled API.';
const silent: DriftLog = { info: () => undefined, warn: () => undefined, error: () => undefined };

export function createDriftWatch(options: DriftWatchOptions): DriftWatch {
  const { dialect = defaultDialect, ownTables = new Set<string>(), interval = defaultInterval } = options;
  let log = silent;
  let live: readonly LiveObject[] | null = null;
  let drifts: readonly Drift[] = [];
  let closed: ReadonlySet<string> = new Set();
  let damaged = false;
  let timer: NodeJS.Timeout | undefined;
  let [stopped, isWaiting] = [false, false];
  let refreshing: Promise<void> | null = null;
  let due = 0;
  const isFollowed = followChanges(options.isOutdated);

  async function check(): Promise<void> {
    const start = performance.now();
    try {
      const { found, differences, lost } = await compare(options);
      isWaiting = await isFollowed(closed.size === 0 && differences.some(isError));
      if (stopped) return;
      const current = differences.filter((drift) => !isWaiting || !isError(drift));
      reportDrift(log, drifts, current, findNewColumns(live ?? found, found, dialect));
      [live, drifts] = [found, current];
      closed = new Set(current.filter(isError).map(({ table }) => table));
      damaged = current.some((drift) => lost.includes(drift)) || [...closed].some((table) => ownTables.has(table));
    } catch (error) {
      if (!stopped) log.warn({ cause: describeCause(error) }, incomparable);
    } finally {
      due = performance.now() + Math.max(freshFor, (performance.now() - start) * maxLoad);
    }
  }

  async function checkInRhythm(): Promise<void> {
    await check();
    const longest = isWaiting ? followInterval : closed.size === 0 ? interval : closedInterval;
    if (!stopped) timer = setTimeout(continueOutside, Math.min(interval, longest), checkInRhythm).unref();
  }

  return {
    drifts: () => drifts,
    checked: () => live !== null,
    closed: () => closed,
    damaged: () => damaged,
    check,
    refresh() {
      if (refreshing === null && (stopped || performance.now() < due)) return Promise.resolve();
      refreshing ??= check().finally(() => {
        refreshing = null;
      });
      return refreshing;
    },
    start(to) {
      log = to;
      return checkInRhythm();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Compares the database with what was compiled, and with the tables that the platform has made beside that. */
async function compare({
  database,
  fingerprint,
  dialect = defaultDialect,
  readMade = async () => [],
}: DriftWatchOptions) {
  const made = await readMade();
  const live = await serverOf(dialect).readLive(database, { objects: [...fingerprint.objects, ...made] });
  const found = live.filter((object) => !made.some((table) => isSameTable(table, object)));
  const lost = findLostTables(made, live, dialect);
  return { found, lost, differences: [...compareFingerprint(fingerprint, found, dialect), ...lost] };
}

const isError = ({ severity }: Drift): boolean => severity === 'error';

/** Tells whether differences are a change of the model, which is no drift. False once none was for long. */
function followChanges(isOutdated = async () => false): (differs: boolean) => Promise<boolean> {
  let since: number | null = null;
  return async (differs) => {
    since = differs && (await isOutdated()) ? (since ?? performance.now()) : null;
    return since !== null && performance.now() - since < maxFollow;
  };
}

/** Logs drifts that are new since the check before, columns that nothing uses, and when everything fits again. */
function reportDrift(log: DriftLog, before: readonly Drift[], now: readonly Drift[], columns: readonly Drift[]): void {
  const reported = new Set(before.map(({ message, object }) => `${object} ${message}`));
  for (const { object, message, collections, severity } of now) {
    if (reported.has(`${object} ${message}`)) continue;
    const details = { object, collections };
    if (severity === 'error')
      log.error(details, `${message} Requests that reach it are refused until it is mended or compiled again.`);
    else log.info(details, message);
  }
  if (before.some(isError) && !now.some(isError)) log.info({}, 'The database fits the API again.');
  for (const { object, message } of columns) {
    // A column that was gone and is back is compiled.
    if (!before.some((drift) => drift.object === object)) log.info({ object }, message);
  }
}

/** Throws SERVICE_UNAVAILABLE for a statement that reads or writes a table that no longer fits the compiled API. */
export type DriftGuard = (statement: Pick<Statement, 'tables'>) => void;
