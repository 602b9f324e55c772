/** One run of a statement, as observers see it. */
import { currentRecord } from '../operate/request-record.ts';
import { type Parameter, type RowSink, receiverOf, type Statement } from './database.ts';

/** Hears of the end of a read: at once, which costs less than another promise. */
interface ReadWatch {
  ended(run: StatementRun, now: number): void;
  failed(run: StatementRun, error: unknown): void;
}

export class StatementRun implements RowSink {
  readonly statement: Statement;
  readonly parameters: readonly Parameter[];
  /** Request that it belongs to; undefined outside of requests. */
  readonly record = currentRecord();
  /** Time when it was asked for, before any wait; 0 until that is known. */
  startedAt = 0;
  /** True where it is asked for later, together with others. */
  isJoined = false;
  /** Time when it had its connection; undefined where it never waits for one, or has not got one. */
  sentAt: number | undefined;
  /** Text that was sent in place of that of the statement, for the same answer. */
  otherText: string | undefined;
  rows = 0;
  /** Set where it is traced. */
  shared: RowSink['shared'];
  /** Milliseconds that the client took to read a streamed answer. */
  clientMs = 0;
  /** Set for a read. */
  watch: ReadWatch | null = null;
  readonly #sink: RowSink;

  constructor(statement: Statement, parameters: readonly Parameter[], sink: RowSink) {
    this.statement = statement;
    this.parameters = parameters;
    this.#sink = sink;
  }

  get receiver(): RowSink {
    return receiverOf(this.#sink);
  }

  received(rows: number): void {
    this.rows += rows;
  }

  row(buffer: Buffer, offset: number, length: number): void {
    this.rows++;
    this.#sink.row(buffer, offset, length);
  }

  joins(): void {
    this.isJoined = true;
  }

  /** Takes the time where none is known: one that is sent at once needs no clock of its own. */
  requested(): void {
    if (this.startedAt === 0) this.startedAt = performance.now();
  }

  sent(now: number, text?: string): void {
    if (this.startedAt === 0) this.startedAt = now;
    this.sentAt = now;
    this.otherText = text;
  }

  end(now?: number): void {
    this.#sink.end?.(now);
    this.watch?.ended(this, now ?? performance.now());
  }

  failed(error: unknown): void {
    this.watch?.failed(this, error);
  }

  /** Takes over the wait of a transaction, of which this is the first statement. */
  follow(waitedMs: number): void {
    this.sentAt = this.startedAt;
    this.startedAt -= waitedMs;
  }

  /** Milliseconds until it had its connection. */
  get waitMs(): number {
    return this.sentAt === undefined ? 0 : this.sentAt - this.startedAt;
  }

  /** Milliseconds until then, with its waits. */
  msUntil(now: number): number {
    return this.startedAt === 0 ? 0 : now - this.startedAt - this.clientMs;
  }
}
