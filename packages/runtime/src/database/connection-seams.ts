/** Room that drivers leave for ways to be faster. */
import type { Database, Outcome, Parameter, Statement, Transaction } from './database.ts';
import { isConflict, isNotPrimary, isRetryable, isStalePreparation } from './errors.ts';

/** Parts of a driver that may be wrapped; each runs as it is when absent. */
export interface ConnectionSeams {
  readonly wrapReads?: (read: Database['read'], batches: BatchReader) => Database['read'];
  readonly wrapStreams?: (stream: Database['stream'], read: Database['read']) => Database['stream'];
  readonly wrapTransactions?: (transactions: TransactionRunner) => Database['briefTransaction'];
  readonly createChooser?: (state: ServerState) => ChooseText;
  /** True if rows may go to `RowSink.direct`. Default: false. */
  readonly directRows?: boolean;
}

export interface StatementRequest {
  readonly statement: Statement;
  readonly parameters: readonly Parameter[];
}

/** A statement that reads by several keys in the place of one. */
export interface KeyList {
  /** Index of the parameter that is the list of keys. */
  readonly at: number;
  /** Takes an array; without a type of arrays `keysMark` stands in the list, for as many placeholders as there are keys. */
  readonly statement: Statement;
}

/** Asks a server for several keys. */
export interface BatchReader {
  /** The statement for some keys; `parameters` are those of one of the reads. */
  ask(list: KeyList, keys: readonly string[], parameters: readonly Parameter[]): StatementRequest;
  /** Groups under way at once, in whose time others are gathered; infinity where one turn of the event loop is enough. */
  readonly maxRunning: number;
  /** Called when the groups of a turn were sent. */
  sent?(): void;
}

/** Result of one attempt at a transaction: the committed outcome, or a failure after which nothing stayed. */
type TriedTransaction<T> =
  | { readonly outcome: Outcome<T> }
  | { readonly outcome?: undefined; readonly attempt: { readonly failure: unknown } };

export interface TransactionRunner {
  /** As `Database.transaction`; `tries` are those so far. */
  run<T>(work: (transaction: Transaction) => Promise<Outcome<T>>, tries?: Tries): Promise<T>;
  /** Once. Rejects when it is unknown if it was committed, or no connection is free. */
  attempt<T>(work: (transaction: Transaction) => Promise<Outcome<T>>): Promise<TriedTransaction<T>>;
  /** Bounds the wait for a lock of another transaction. */
  readonly lockTimeout: Statement;
}

/** Facts of some tables that do not depend on a statement. */
export interface TableFacts {
  /** True if they may be read as a whole. */
  readonly areSmall: boolean;
  /** Rows of each as the database has counted them for its plans; empty before they are known. */
  readonly statistics: readonly number[];
}

/** Facts that a server knows beside its statements. */
export interface ServerState {
  factsOf(tables: readonly string[]): TableFacts;
  /** True if so few statements are under way that times tell something. */
  isCalm(): boolean;
  /** The statement, planned as one that reads thousands of rows; `merges` has it join them in order, and not by hashes. */
  planForMany(statement: Statement, merges?: boolean): Statement;
}

/** A statement by its text for one run, and the function that takes its milliseconds afterwards. */
export interface Chosen {
  readonly statement: Statement;
  readonly took?: (ms: number) => void;
}

export type ChooseText = (statement: Statement, parameters: readonly Parameter[]) => Chosen;

/** Conflicts with other transactions after which a function runs again. */
const maxConflicts = 8;
/** Connections lost under a function, or refusals of a server to write, after which it runs again: by then there may be a new primary. */
const maxLosses = 1;
/** Prepared statements that the server took back, as poolers do, and columns whose type has changed. */
const maxStale = 24;
/** The longest wait after the first conflict, in milliseconds; it doubles up to the most. */
const firstWaitMs = 10;
const maxWaitMs = 500;

/** Time that the end of a transaction may stay unknown before the request is given up, in milliseconds. */
export const resolveWithinMs = 15_000;

/** The pause before it is looked again how a transaction ended, after a pause of `ms`. */
export function nextPause(ms = 0): number {
  return ms === 0 ? firstWaitMs : Math.min(ms * 2, maxWaitMs);
}

export class Tries {
  #conflicts = 0;
  #losses = 0;
  #stale = 0;

  /** True if a failure deserves another attempt; counts it. `prepared` tells if the statement was known by its name. */
  mayRunAgain(failure: unknown, prepared = true): boolean {
    if (isConflict(failure)) return ++this.#conflicts <= maxConflicts;
    if (prepared && isStalePreparation(failure)) return ++this.#stale <= maxStale;
    return (isRetryable(failure) || isNotPrimary(failure)) && ++this.#losses <= maxLosses;
  }

  /** Milliseconds until the next try: after conflicts anything up to the longest wait, so that those who met do not meet again. */
  wait(): number {
    if (this.#conflicts === 0) return 0;
    return Math.random() * Math.min(firstWaitMs * 2 ** (this.#conflicts - 1), maxWaitMs);
  }
}
