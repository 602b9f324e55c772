/** Whether the server can serve: its database answers, and the compiled API fits it. */
import type { Database } from '../database/database.ts';
import type { DriftWatch } from '../drift-watch.ts';

/** One checked thing, in the manner of the health+json draft. */
export interface HealthCheck {
  readonly status: 'ok' | 'warn' | 'error';
  /** Milliseconds the check took. */
  readonly responseTime?: number;
  /** What is wrong, one sentence each. For administrators: it names objects of the database. */
  readonly output?: readonly string[];
}

/** The state of a server. */
export interface Health {
  readonly status: 'ok' | 'error';
  readonly checks: {
    readonly database: HealthCheck;
    readonly schema: HealthCheck;
    readonly connections: HealthCheck;
  };
}

/** Milliseconds for which one answer serves every caller. */
const cachedFor = 1000;

/** Makes the health check of a server. Callers within a second, and callers during a check, share one answer. */
export function createHealth(
  database: Database,
  watch: Pick<DriftWatch, 'drifts' | 'checked'>,
  patience: number,
): () => Promise<Health> {
  let latest: Promise<Health> | null = null;
  let until = 0;

  return function health() {
    const now = performance.now();
    if (latest === null || now >= until) {
      // While the check runs nobody starts another one; its second begins when it ends.
      until = Number.POSITIVE_INFINITY;
      latest = checkAll(database, watch, patience).finally(() => {
        until = performance.now() + cachedFor;
      });
    }
    return latest;
  };
}

async function checkAll(
  database: Database,
  watch: Pick<DriftWatch, 'drifts' | 'checked'>,
  patience: number,
): Promise<Health> {
  const checks = {
    database: await checkDatabase(database, patience),
    schema: checkSchema(watch),
    connections: checkConnections(database),
  };
  const healthy = checks.database.status === 'ok' && checks.schema.status === 'ok';
  return { status: healthy ? 'ok' : 'error', checks };
}

async function checkDatabase(database: Database, patience: number): Promise<HealthCheck> {
  const start = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), patience);
  });
  const answered = database.query('SELECT 1', []).then(
    () => true,
    () => false,
  );
  const answers = await Promise.race([answered, tooLate]);
  clearTimeout(timer);
  const responseTime = Math.round((performance.now() - start) * 10) / 10;
  return answers
    ? { status: 'ok', responseTime }
    : { status: 'error', responseTime, output: ['The database does not answer.'] };
}

function checkSchema(watch: Pick<DriftWatch, 'drifts' | 'checked'>): HealthCheck {
  if (!watch.checked()) return { status: 'error', output: ['The database has not been compared with the API yet.'] };
  const output = watch.drifts().map(({ object, message }) => `${object}: ${message}`);
  const closing = watch.drifts().some(({ severity }) => severity === 'error');
  return output.length === 0 ? { status: 'ok' } : { status: closing ? 'error' : 'ok', output };
}

/** Waits shorter than this are none: a connection is given back in time. */
const longWaitMs = 500;

/** Whether requests wait for connections: a warning, since others are answered. Also for whatever tells whether a server is ready. */
export function checkConnections(database: Pick<Database, 'load'>): HealthCheck {
  const { connections, streams } = database.load?.() ?? {};
  const output: string[] = [];
  if (connections !== undefined && connections.longestMs >= longWaitMs) {
    const { waiting, longestMs } = connections;
    output.push(`${waiting} requests wait for a connection; the longest wait of late was ${longestMs} ms.`);
  }
  if (streams !== undefined && streams.longestMs >= longWaitMs) {
    const { waiting, running, most, longestMs } = streams;
    output.push(
      `${waiting} streamed answers wait while ${running} of at most ${most} are under way; the longest wait of late was ${longestMs} ms.`,
    );
  }
  return output.length === 0 ? { status: 'ok' } : { status: 'warn', output };
}
