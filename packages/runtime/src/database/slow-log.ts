/** Lines about slow statements, with their plans and without a value. Source: operations notes, section 5. */
import type { Environment } from '../environment.ts';
import { type Log, logsInfo } from '../operate/log.ts';
import { operationName } from '../operate/metrics/statement-metrics.ts';
import { rounded } from '../operate/request-record.ts';
import type { Database, StatementPlan } from './database.ts';
import type { StatementRun } from './statement-run.ts';

export interface SlowLog {
  /** Milliseconds from which a statement is slow. */
  readonly leastMs: number;
  /** Takes a statement that has ended; `errorType` is empty for a success. */
  report(run: StatementRun, ms: number, errorType: string): void;
  /** Writes the lines that wait for a plan. */
  flush(): void;
}

/** Bytes of a statement, and of a plan, at most. */
const maxBytes = 8_192;
/** Milliseconds between two plans, and between two of the same text. */
const planPauseMs = 10_000;
const samePlanPauseMs = 600_000;

/** True if statements are timed because slow ones are told. */
function logsSlow(environment: Environment): boolean {
  return environment.operate.slowQuery > 0 && logsInfo(environment);
}

/** Makes the log of slow statements; null where none is told. `log` is asked for with the first one. */
export function createSlowLog(
  environment: Environment,
  database: Pick<Database, 'showPlan'>,
  log: () => Pick<Log, 'info'>,
): SlowLog | null {
  if (!logsSlow(environment)) return null;
  const leastMs = environment.operate.slowQuery;
  const unwritten = new Set<() => void>();
  /** Texts with the time when their plan was asked for, in its order. */
  const planned = new Map<string, number>();
  let isPlanning = false;
  let plannedAt = Number.NEGATIVE_INFINITY;

  function mayPlan(text: string): boolean {
    const now = performance.now();
    if (isPlanning || now - plannedAt < planPauseMs) return false;
    for (const [former, time] of planned) if (now - time >= samePlanPauseMs) planned.delete(former);
    if (planned.has(text)) return false;
    planned.set(text, now);
    plannedAt = now;
    return true;
  }

  return {
    leastMs,
    report(run, ms, errorType) {
      const { statement, otherText, parameters, waitMs } = run;
      const text = otherText ?? statement.text;
      const operation = operationName(text);
      const isQuery = /^(?:SELECT|INSERT|UPDATE|DELETE)$/.test(operation);
      // Texts of a change of the model have values in them.
      const isFixed = operation === 'SELECT' || parameters.length > 0;
      const line = lineOf(run, ms, errorType, isQuery ? cut(withoutLiterals(text, !isFixed)) : operation);
      let plan: StatementPlan | undefined;
      const write = (): void => {
        if (unwritten.delete(write)) log().info({ ...line, plan }, 'A statement was slow.');
      };
      unwritten.add(write);
      const isPlanned =
        isQuery && isFixed && database.showPlan !== undefined && ms - waitMs >= leastMs && mayPlan(text);
      if (!isPlanned) return write();
      isPlanning = true;
      void readPlan(database, run).then((shown) => {
        isPlanning = false;
        plan = shown;
        write();
      });
    },
    flush() {
      for (const write of unwritten) write();
    },
  };
}

async function readPlan(
  database: Pick<Database, 'showPlan'>,
  { statement, otherText, parameters }: StatementRun,
): Promise<StatementPlan | undefined> {
  try {
    const sent = otherText === undefined ? statement : { ...statement, text: otherText };
    return cutPlan(await database.showPlan?.(sent, parameters));
  } catch {
    // A server that has no room for one more connection, and a text that can have no plan.
    return undefined;
  }
}

function lineOf(run: StatementRun, ms: number, errorType: string, shown: string) {
  const { statement, otherText, parameters, waitMs, rows, record } = run;
  return {
    event: 'slow-query',
    requestId: record?.id,
    traceId: record?.traceId,
    class: record?.call?.caller.accessClass,
    ms: rounded(ms),
    waitMs: rounded(waitMs),
    rows,
    error: errorType === '' ? undefined : errorType,
    types: typesOf(otherText ?? statement.text, statement.forms, parameters.length),
    statement: shown,
  };
}

const quoted = /"(?:[^"]|"")*"|`(?:[^`]|``)*`|'(?:[^']|'')*'/g;
const quotedOrNumber = new RegExp(`${quoted.source}|(?<![\\w$])\\d[\\w.]*`, 'g');

/** A text whose literals are left out: texts, and numbers if asked for. Names stay. */
function withoutLiterals(text: string, numbersToo = false): string {
  return text.replace(numbersToo ? quotedOrNumber : quoted, (part) => {
    if (part.startsWith('"') || part.startsWith('`')) return part;
    return part.startsWith("'") ? "'…'" : '…';
  });
}

const castParameter = /\$(\d+)::((?:"(?:[^"]|"")*"|\w+)(?:\.(?:"(?:[^"]|"")*"|\w+))?(?:\[\])?)/g;

/** Type of each parameter: its form where it has one, else that of its cast. */
function typesOf(text: string, forms: readonly string[] | undefined, count: number): readonly string[] {
  const casts = new Map<number, string>();
  for (const [, number, type = ''] of text.matchAll(castParameter)) {
    casts.set(Number(number) - 1, type.replace('pg_catalog.', ''));
  }
  return Array.from({ length: count }, (_, index) => forms?.[index] ?? casts.get(index) ?? 'text');
}

function cutPlan(plan: StatementPlan | undefined): StatementPlan | undefined {
  return typeof plan === 'string' ? cut(withoutLiterals(plan)) : plan;
}

/** The beginning of a text, as far as there is room for it, without a part of a character. */
function cut(text: string): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const end = '…';
  const bytes = Buffer.from(text).subarray(0, maxBytes - Buffer.byteLength(end));
  return `${bytes.toString().replace(/\uFFFD+$/, '')}${end}`;
}
