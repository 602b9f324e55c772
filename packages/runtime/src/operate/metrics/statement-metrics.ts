/** Metrics of statements and transactions. Each statement is bound to its child when it first runs. */
import {
  type CollectionSeries,
  Counter,
  type CounterChild,
  Histogram,
  type HistogramChild,
  linesOfHistogram,
  type MetricValues,
} from './measured.ts';

/** A statement as metrics name it. */
interface MeteredStatement {
  readonly text: string;
  /** Quoted names of its tables, the one it is about first. */
  readonly tables?: readonly string[];
}

/** Reasons for which a transaction ran again. */
const retryReasons = ['conflict', 'stale_statement', 'connection', 'not_primary', 'shared', 'commit'] as const;

export type RetryReason = (typeof retryReasons)[number];

/** Times statements and counts what ran again. */
export interface StatementMeter {
  /** Takes the time of a statement; `errorType` is empty for a success. */
  ran(statement: MeteredStatement, seconds: number, errorType: string): void;
  retried(reason: RetryReason): void;
}

export class StatementMetrics implements StatementMeter {
  readonly #durations = new Histogram(
    'db_client_operation_duration_seconds',
    'Time of a statement, with its wait for a connection.',
  );
  readonly #retries = new Counter('tablewright_transactions_retried_total', 'Transactions that ran once more.');
  readonly #byReason = new Map<RetryReason, CounterChild>();
  readonly #system: string;
  readonly #series: CollectionSeries;
  readonly #succeeded = new WeakMap<MeteredStatement, HistogramChild>();
  readonly #children = new Map<string, HistogramChild>();

  /** `system` is the name that OpenTelemetry has for the database. */
  constructor(system: string, series: CollectionSeries) {
    this.#system = system;
    this.#series = series;
    for (const reason of retryReasons) this.#byReason.set(reason, this.#retries.child({ reason }));
  }

  read(): readonly MetricValues[] {
    return [this.#durations.read(), this.#retries.read()];
  }

  ran(statement: MeteredStatement, seconds: number, errorType: string): void {
    const child = errorType === '' ? this.#succeeded.get(statement) : undefined;
    (child ?? this.#bind(statement, errorType)).observe(seconds);
  }

  retried(reason: RetryReason): void {
    const counter = this.#byReason.get(reason);
    if (counter !== undefined) counter.value++;
  }

  #bind(statement: MeteredStatement, errorType: string): HistogramChild {
    const operation = operationName(statement.text);
    const table = tableName(statement);
    const key = JSON.stringify([operation, errorType, table]);
    const child = this.#children.get(key) ?? this.#create(key, operation, errorType, table);
    if (errorType === '') this.#succeeded.set(statement, child);
    return child;
  }

  #create(key: string, operation: string, errorType: string, table: string): HistogramChild {
    const name = table === '' ? '' : this.#series.nameFor(table, linesOfHistogram);
    // Tables beyond the bound share a child.
    const sharedKey = JSON.stringify([operation, errorType, name]);
    const child =
      this.#children.get(sharedKey) ??
      this.#durations.child({
        db_system_name: this.#system,
        db_operation_name: operation,
        db_collection_name: name,
        error_type: errorType,
      });
    this.#children.set(sharedKey, child);
    this.#children.set(key, child);
    return child;
  }
}

const quoted = /"(?:[^"]|"")*"|'(?:[^']|'')*'|`(?:[^`]|``)*`/g;
const firstWord = /^\W*(\w+)/;
/** A part that writes: rows that are locked, or changed instead of made, are named by UPDATE, too. */
const writes = /\b(INSERT|DELETE|(?<!\bFOR (?:NO KEY )?)UPDATE)\b/i;

/** SELECT, INSERT, UPDATE or DELETE; the first word of every other statement. One that begins with WITH writes if any part does. */
export function operationName(text: string): string {
  const verb = (firstWord.exec(text)?.[1] ?? '').toUpperCase();
  if (verb !== 'WITH') return verb;
  return (writes.exec(text.replace(quoted, '""'))?.[1] ?? 'SELECT').toUpperCase();
}

/** Name of the first table of a statement, without its schema; empty where none is known. */
export function tableName({ tables: [table = ''] = [] }: Pick<MeteredStatement, 'tables'>): string {
  const last = [...table.matchAll(quoted)].at(-1)?.[0];
  if (last === undefined) return table;
  const marker = last.charAt(0);
  return last.slice(1, -1).replaceAll(marker + marker, marker);
}
