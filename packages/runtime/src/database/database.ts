import type { ShapeField } from '../json/shape.ts';
import type { Transcoder } from '../json/transcode.ts';
import type { Family } from '../language/index.ts';
import type { PoolLoad } from '../operate/metrics/pool-metrics.ts';
import type { RowContext, RunsAs } from './row-context.ts';
import type { Waited } from './waits.ts';

/** A parameter in the text form of its type, or null. Every parameter is cast in the statement, so its type is fixed. */
export type Parameter = string | null;

/** Form of a list of texts that is a path into JSON: the keys between two positions, or an element as a number. */
export type PathForm = `path:${number}-${number}` | `index:${number}`;

export function isPathForm(name: string): name is PathForm {
  return /^(?:path:\d+-\d+|index:\d+)$/.test(name);
}

/**
 * Form of a parameter where a server does not take the text form of values. It may be a boolean as a number, an instant
 * in UTC without its zone, or an integer as such. Others are months or microseconds of an interval, or a list as a JSON
 * array. A decimal comes as its part before the point and the one behind it.
 */
export type ParameterForm =
  | 'text'
  | 'boolean'
  | 'instant'
  | 'integer'
  | 'months'
  | 'microseconds'
  | 'whole'
  | 'fraction'
  | `${'text' | 'boolean' | 'instant'}[]`
  | PathForm;

/** A statement of fixed text, prepared once per connection under its name. All result columns arrive in binary. */
export interface Statement extends Noted {
  /** Short and unique per text: `r_` and a hash. */
  readonly name: string;
  readonly text: string;
  /** Form of each parameter; absent where all are texts. */
  readonly forms?: readonly ParameterForm[];
  /** Tables of the compiled API that it reads or writes, as their descriptors name them. Absent where none is known. */
  readonly tables?: readonly string[];
  /** True when it reads or writes at most one row, by its key, and does nothing else: too quick to keep others waiting. */
  readonly brief?: boolean;
  /** True when its values decide which part of a table it reads. Then each run is worth a plan of its own. */
  readonly byValues?: boolean;
  /** True for callers without a token: DATABASE_PUBLIC_STATEMENT_TIMEOUT holds, and connections are left to others. */
  readonly isPublic?: boolean;
  /** True when it may be slow, so that no other read is queued after it. */
  readonly apart?: boolean;
  /** True when a replica may answer it: none of its rules looks at other tables, which replicas may know late. */
  readonly mayLag?: true;
  /** Tables that it changes; absent where it reads, and for statements of the platform's own. */
  readonly changes?: readonly TableChange[];
  /** True when its answer depends on the time at which it runs. */
  readonly timed?: true;
  /** Tables that it looks at in several places; absent where there are none. */
  readonly repeated?: ReadonlySet<string>;
  /** Set where shared caches may keep its answer to requests without a token. */
  readonly kept?: KeptAnswers;
  /** Set where replicas are asked: the position in the log that one has to have reached, empty for any. */
  readonly after?: string;
  /** Side, where callers are passed on to policies. Absent: that before it in the transaction, or the server's. */
  readonly runsAs?: RunsAs;
  /** True when it calls functions of the database that must not write. Sessions for reads are read-only, where there are any. */
  readonly readOnly?: true;
  /** True when it takes a lock of the session, which has to be released after the transaction. */
  readonly locksSession?: boolean;
  /** The statements that its text lists, where it calls a procedure. The last one answers. */
  readonly parts?: readonly StatementPart[];
}

export interface StatementPart {
  readonly text: string;
  /** Number of its parameters, which follow those of the parts before. */
  readonly parameters: number;
  /** Set on the call: the rows that it answers first are one text, a JSON array of objects. */
  readonly call?: true;
}

/** A change of a table, as its descriptor names it; `*` stands for any. `key`: so do keys, or other unique values. */
export interface TableChange {
  readonly table: string;
  readonly kind: 'create' | 'update' | 'key' | 'delete';
}

/** Answers that shared caches may keep: for how many seconds, and for a read by key the table of its item. */
export interface KeptAnswers {
  readonly seconds: number;
  readonly item?: string;
}

/** Stored rows of a table, each by the text of its key. */
export interface NamedRows {
  readonly table: string;
  readonly keys: readonly string[];
}

/** Keys that have one text each. */
export type KeyKind = 'integer' | 'uuid';

/** Placeholder for the list of keys, where a statement has one placeholder for each. */
export const keysMark = '/* keys */ ?';

/**
 * Receives the rows of one statement as protocol bytes.
 *
 * `offset` points at the first column's length (4 bytes, -1 for null, then the value) of a DataRow; `length` counts the
 * bytes from there. The buffer is only valid during the call.
 */
export interface RowSink {
  row(buffer: Buffer, offset: number, length: number): void;
  /** Sink that rows go to in place of this one, which hears of the rest. Each stop of a row on its way takes time. */
  readonly receiver?: RowSink | undefined;
  /** Hears how many rows its receiver got; before `end`. */
  received?(rows: number): void;
  /** Set where a lane may turn rows into items by itself. */
  readonly direct?: DirectSink | undefined;
  /** The statement waits for others and is asked with them; `requested` or `sent` follows, then `end` or `failed`. */
  joins?(): void;
  /** The statement is asked for at this moment, and may have to wait for a connection. */
  requested?(): void;
  /** The statement has its connection at this moment; the last call counts. `text`: what was sent, if it differs. */
  sent?(now: number, text?: string): void;
  /** Hears that one statement serves several sinks; the result is told its end. Set where statements are traced. */
  readonly shared?: ((statement: Statement, sinks: readonly RowSink[]) => SharedEnd) | undefined;
  /**
   * Tells that there are no more rows, with the time where it is known. Called by `read` before anything else is
   * received, so that memory is free for the next.
   */
  end?(now?: number): void;
  /** A statement that has joined others has failed, alone or with them. */
  failed?(error: unknown): void;
}

export function receiverOf(sink: RowSink): RowSink {
  return sink.receiver ?? sink;
}

/** Hears the end of a statement that served several sinks; after a failure each is served alone, or gets that error. */
export type SharedEnd = (failure?: { readonly error: unknown }) => void;

/** Tells sinks that one statement serves all of them; undefined if none wants to know. */
export function announceShared(
  statement: Statement,
  served: readonly { readonly sink: RowSink }[],
): SharedEnd | undefined {
  for (const { sink } of served)
    if (sink.shared)
      return sink.shared(
        statement,
        served.map(({ sink }) => sink),
      );
  return undefined;
}

/** Receives rows in a form that only the driver knows, with the function that makes items: all of an answer or none. */
export interface DirectSink {
  /** Fields of an item: the columns of a row in their order, and nothing else. */
  readonly fields: readonly ShapeField[];
  /** The buffer is only valid during the call. */
  item(transcode: Transcoder, buffer: Buffer, offset: number): void;
}

/** A transaction under way. After the first statement that fails nothing of it will stay. */
export interface Transaction {
  /**
   * Runs one statement; those sent at once go together. Rejects with `PlatformError`, whose cause is the answer of the
   * database. Where a dialect returns no written rows, an UPDATE for example still gives one row with three texts: `1`,
   * the number of rows that were found, and the first key that was generated (`0` for none).
   */
  run(statement: Statement, parameters: readonly Parameter[], sink: RowSink): Promise<void>;
  /**
   * Takes the number of the transaction, `pg_current_xact_id()` as text, which a statement that writes brings along. It
   * finds out the end of a transaction whose COMMIT got no answer. Without one, nothing was written.
   */
  identify(id: string): void;
  /**
   * Takes the query for a row that only this transaction has made, if the server numbers no transactions. It finds out
   * the end of one whose COMMIT got no answer. The first one counts, before it one of a row without a number of the server's. Absent where `identify` is all that is needed.
   */
  proof?(commitProof: CommitProof): void;
  /** Tells which stored rows of a table a request changes, null if unknown. Set where caches are told of changes. */
  names?(rows: NamedRows | null): void;
  /** Calls back once all requests that share the transaction have begun. Absent if it is not shared, or all have. */
  begun?(send: () => void): void;
}

const wholes = new WeakMap<Transaction, Transaction>();

/** Marks a transaction as a view of another one, which is committed. */
export function markPart<T extends Transaction>(part: T, whole: Transaction): T {
  wholes.set(part, whole);
  return part;
}

/** The transaction that is committed: what is noted about one is noted about that. */
export function wholeOf(transaction: Transaction): Transaction {
  return wholes.get(transaction) ?? transaction;
}

/** A SELECT that locks its row: it waits for a transaction that goes on, and finds a row if that was committed. */
export interface CommitProof {
  readonly statement: Statement;
  readonly parameters: readonly Parameter[];
  /** True if the server has numbered the row: another server may give the number to the row of another transaction. */
  readonly isNumbered?: boolean;
}

/** Result of a transaction before it is committed. */
export interface Outcome<T> {
  readonly value: T;
  /** The last statement, sent with COMMIT; its rows are committed when `transaction` resolves. */
  readonly last?: {
    readonly statement: Statement;
    readonly parameters: readonly Parameter[];
    readonly sink: () => RowSink;
  };
}

/** Client that a read answers. Both are looked up only where they are needed. */
export interface ReadClient {
  readonly address: string;
  /** True once its connection is closed. A read that waits is dropped then, and one that takes long ends at the database. */
  readonly isGone: boolean;
}

/** Client that leaves when a signal is aborted; an address is of no use where reads have their turn already. */
export class SignalClient implements ReadClient {
  readonly address: string;
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal, address = '') {
    this.#signal = signal;
    this.address = address;
  }

  get isGone(): boolean {
    return this.#signal.aborted;
  }
}

/** Requests that wait for a connection, and streams that hold one. */
export interface DatabaseLoad {
  readonly connections?: Waited;
  /** Absent for a database without connections. */
  readonly pool?: PoolLoad;
  /** Reads of callers without a token that wait for their turn. */
  readonly publicQueue?: Waited;
  readonly streams?: StreamLoad;
  readonly full?: FullDisk;
}

/** Times of the first and the latest write that found the disk of the server full, until one succeeds: milliseconds of the epoch. */
export interface FullDisk {
  readonly since: number;
  readonly latest: number;
}

/** A database that runs compiled statements. Errors reject with `PlatformError` (see `errors.ts`). */
export interface Database {
  /** Runs one statement to its end, pipelined on a shared connection; slow ones without a token take turns. */
  read(statement: Statement, parameters: readonly Parameter[], sink: RowSink, client?: ReadClient): Promise<void>;
  /**
   * Runs one statement on a connection of its own in batches of rows. After each batch `drained` is awaited before the
   * next is asked for, so memory stays flat however slow the reader is. Aborting the signal ends it in the database.
   * There is a bounded number of streams, also of one `client`, an address.
   */
  stream(
    statement: Statement,
    parameters: readonly Parameter[],
    sink: RowSink,
    drained: () => Promise<void>,
    signal: AbortSignal,
    client?: string,
  ): Promise<void>;
  /**
   * Runs a function in a transaction that may write, and commits its result; when it rejects, nothing stays.
   *
   * The function runs again from the start after a conflict with other transactions and after a lost connection. So all
   * it does must be repeatable. A COMMIT without an answer is found out, never guessed; without a proof, it is
   * SERVICE_UNAVAILABLE.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<Outcome<T>>): Promise<T>;
  /**
   * The same for a function that runs one brief statement. It may share its transaction with others of its kind, as
   * long as all succeed. If one fails nothing of any stays, and each runs again in one of its own. `rows` is how many
   * rows the statement writes at most, by default 1: many leave less room for others. Only those of equal `context` share.
   */
  briefTransaction<T>(work: (transaction: Transaction) => Promise<T>, rows?: number, context?: RowContext): Promise<T>;
  /**
   * Opens a session of its own in which tables are changed, and closes it after the work. Statements
   * commit by themselves, and reject with errors of the driver; a rejection of the work becomes a `PlatformError`.
   * Absent if a transaction can contain such statements as well.
   */
  schemaSession?<T>(work: (session: MigrationConnection) => Promise<T>): Promise<T>;
  /** Runs a small query of our own and returns its rows as text values. For start, drift and health; not for requests. */
  query(
    text: string,
    parameters: readonly Parameter[],
    observer?: Pick<RowSink, 'sent'>,
  ): Promise<readonly (readonly (string | null)[])[]>;
  /** Asks for the plan of a statement, without values, on a connection of its own. Absent for a single connection. */
  showPlan?(statement: Pick<Statement, 'text' | 'forms'>, parameters: readonly Parameter[]): Promise<StatementPlan>;
  /** Tells how many requests wait for connections. Absent if they never wait. */
  load?(): DatabaseLoad;
  /**
   * Milliseconds that the way to the server and back takes at least, as connections measured it when they were made. All
   * round trips of a statement that a connection first meets are in it. Absent where there is no way.
   */
  roundTripMs?(): number;
  /** Waits for statements under way, at most `graceMs`, then closes every connection. */
  close(graceMs: number): Promise<void>;
}

/** Plan of a statement: the text of the server, or how each table is read. */
export type StatementPlan = string | readonly TableAccess[];

/** Access to one table; `table` is its name in the statement. */
export interface TableAccess {
  readonly table: string;
  readonly access: string | undefined;
  readonly key: string | undefined;
  readonly rows: number | undefined;
}

/** Streams under way, and those that wait for their turn. */
export interface StreamLoad extends Waited {
  readonly running: number;
  readonly maxCount: number;
}

/** A connection that migrations run on: their own, of a role that may create tables. */
export interface MigrationConnection {
  /** Runs one statement; values in text form. */
  query(text: string, parameters: readonly (string | null)[]): Promise<readonly (readonly (string | null)[])[]>;
  /** Runs statements without parameters: several where the server takes them as one text. */
  script(text: string): Promise<void>;
  /** SQL dialect; that of `defaultDialect` when absent. */
  readonly family?: Family;
}

/** Notes that others attach to statements and plans: the engine carries them along, and reads none. */
export interface Noted {
  readonly [note: symbol]: unknown;
}

export interface Note<T> {
  /** The note on a statement or plan, where there is one. */
  of(noted: Noted): T | undefined;
  /** The same statement or plan with a note. */
  on<N extends Noted>(noted: N, value: T): N;
}

export function createNote<T>(name: string): Note<T> {
  const key = Symbol(name);
  return {
    of: (noted) => noted[key] as T | undefined,
    on: (noted, value) => ({ ...noted, [key]: value }),
  };
}
