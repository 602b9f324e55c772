/** One attempt at a transaction on MySQL or MariaDB, on a connection that it has to itself. */
import type { Connection, FieldPacket, PoolConnection } from 'mysql2';
import type {
  CommitProof,
  Outcome,
  Parameter,
  RowSink,
  Statement,
  StatementPart,
  Transaction,
} from '../../../database/database.ts';
import { isLost, isNotPrimary, toDatabaseError } from '../../../database/errors.ts';
import { formParameters, type SentParameter } from '../../../database/parameter-forms.ts';
import { inTime } from '../../../database/waits.ts';
import { toMysqlError } from './errors.ts';
import { lineOf } from './line.ts';
import { noAnswer, run } from './run.ts';

/** Runs a function in a transaction once, and remembers how far it came. */
export class MysqlAttempt implements Transaction {
  /** The first thing that went wrong between us and the database, as it came. */
  failure: unknown;
  /** Proof of how the transaction ended, if it has left one. */
  evidence: CommitProof | undefined;
  /** True when COMMIT was sent and got no answer, so that only the evidence can tell how the transaction ended. */
  unknown = false;
  /** True when the connection can no longer be used. */
  broken = false;
  #begun = false;
  /** True if the session holds a lock that COMMIT does not release. */
  #holds = false;
  /** Settles before the next statement is sent: after an error the server would run it in a transaction of its own. */
  #last: Promise<void> = Promise.resolve();
  readonly #connection: PoolConnection;
  readonly #timeoutMs: number;

  /** `timeoutMs` is how long an answer may take before the connection counts as dead, infinity for ever. */
  constructor(connection: PoolConnection, timeoutMs: number) {
    this.#connection = connection;
    this.#timeoutMs = timeoutMs;
  }

  /** Runs the function and commits its result; else undoes everything and rejects with the error. */
  async execute<T>(work: (transaction: Transaction) => Promise<Outcome<T>>): Promise<Outcome<T>> {
    try {
      const outcome = await work(this);
      if (this.#begun) await this.#commit(outcome);
      return outcome;
    } catch (error) {
      await this.#undo();
      throw error;
    } finally {
      await this.#unlock();
    }
  }

  run(statement: Statement, parameters: readonly Parameter[], sink: RowSink): Promise<void> {
    const running = this.#last.then(() => this.#send(statement, parameters, sink));
    this.#last = running.catch(() => {});
    return running;
  }

  /** The servers do not tell the end of a transaction by its number, so it is of no use. */
  identify(): void {}

  proof(commitProof: CommitProof): void {
    if (this.evidence === undefined || (this.evidence.isNumbered && !commitProof.isNumbered))
      this.evidence = commitProof;
  }

  async #commit<T>({ last }: Outcome<T>): Promise<void> {
    await this.#last;
    // A function may have passed over an error, but nothing is committed that is not whole.
    if (this.failure !== undefined) throw toDatabaseError(this.failure);
    if (last !== undefined) await this.run(last.statement, last.parameters, last.sink());
    try {
      await this.#order('COMMIT');
    } catch (error) {
      this.unknown = isLost(this.failure);
      throw error;
    }
  }

  async #send(statement: Statement, parameters: readonly Parameter[], sink: RowSink): Promise<void> {
    if (this.failure !== undefined) throw toDatabaseError(this.failure);
    if (!this.#begun) {
      this.#begun = true;
      await this.#order('START TRANSACTION READ WRITE');
    }
    if (statement.locksSession === true) this.#holds = true;
    const { text, forms, parts } = statement;
    const sent = formParameters(parameters, forms);
    await this.#watched(async () => {
      if (parts === undefined) await run(this.#connection, text, sent, sink);
      else await runParts(this.#connection, parts, sent, sink);
      sink.end?.();
    });
  }

  /** Ends the transaction, so that the connection can be used again or is gone. */
  async #undo(): Promise<void> {
    await this.#last;
    if (!this.#begun || this.broken) return;
    const { failure } = this;
    await this.#order('ROLLBACK').catch(() => {
      this.broken = true;
    });
    this.failure = failure;
  }

  async #unlock(): Promise<void> {
    if (!this.#holds || this.broken) return;
    const { failure } = this;
    await this.#order('DO RELEASE_ALL_LOCKS()').catch(() => {
      this.broken = true;
    });
    this.failure = failure;
  }

  #order(text: string): Promise<void> {
    return this.#watched(() => lineOf(this.#connection).order(text));
  }

  /** Waits for an answer, as long as one may take, and stores an error. */
  async #watched(result: () => Promise<void>): Promise<void> {
    try {
      await inTime(result(), this.#timeoutMs, noAnswer);
    } catch (thrown) {
      const error = toMysqlError(thrown);
      this.failure ??= error;
      // One to a server that takes no writes is made anew, by then perhaps to another one.
      if (isLost(error) || isNotPrimary(error)) this.broken = true;
      throw toDatabaseError(error);
    }
  }
}

/** Runs the parts of a statement one after the other, and hands what the last one answers to the sink. */
async function runParts(
  connection: Connection,
  parts: readonly StatementPart[],
  sent: readonly SentParameter[],
  sink: RowSink,
): Promise<void> {
  let offset = 0;
  for (const [index, { text, parameters, call }] of parts.entries()) {
    const values = sent.slice(offset, offset + parameters);
    offset += parameters;
    const isLast = index === parts.length - 1;
    if (call !== true) await run(connection, text, values, isLast ? sink : { row() {} });
    else {
      const rows = await callProcedure(connection, text, values);
      if (isLast) putText(sink, rows);
    }
  }
}

/** The first rows that a call answers, as a JSON array of objects; the driver reads and drops all others. */
function callProcedure(connection: Connection, sql: string, sent: readonly SentParameter[]): Promise<string> {
  // Values as the server writes them: numbers of any size, times without a zone, JSON as text.
  const forms = { dateStrings: true, supportBigNumbers: true, bigNumberStrings: true, jsonStrings: true } as const;
  const values = sent.map((value) => (typeof value === 'bigint' ? String(value) : value));
  return new Promise((resolve, reject) => {
    connection.execute({ sql, values, rowsAsArray: true, ...forms }, (error, results, fields) => {
      if (error) reject(toMysqlError(error));
      else resolve(jsonOf(firstOf(results), firstOf(fields)));
    });
  });
}

/** Without rows the driver gives what the call counted alone. */
function firstOf(results: unknown): readonly unknown[] {
  const first: unknown = Array.isArray(results) ? results[0] : undefined;
  return Array.isArray(first) ? first : [];
}

function jsonOf(rows: readonly unknown[], fields: readonly unknown[]): string {
  const columns = fields.filter(isField).map((field) => ({ name: JSON.stringify(field.name), write: writerOf(field) }));
  const objects = rows.filter(Array.isArray).map((row: readonly unknown[]) => {
    const members = columns.map(
      ({ name, write }, index) => `${name}:${row[index] == null ? 'null' : write(row[index])}`,
    );
    return `{${members.join(',')}}`;
  });
  return `[${objects.join(',')}]`;
}

function isField(field: unknown): field is FieldPacket {
  return typeof field === 'object' && field !== null && 'name' in field;
}

/** Numbers of column types: tinyint, bigint, timestamp, datetime, bit, JSON. */
const types = { tiny: 1, long: 8, timestamp: 7, dateTime: 12, bit: 16, json: 245 } as const;

/** Values have the forms that the API gives columns of their types. */
function writerOf({ columnType, columnLength }: FieldPacket): (value: unknown) => string {
  const isFlag = columnLength === 1;
  switch (columnType) {
    case types.tiny:
      return (value) => (isFlag ? String(Number(value) !== 0) : String(value));
    case types.bit:
      return (value) => (isFlag && Buffer.isBuffer(value) ? String(value.some((byte) => byte !== 0)) : textOf(value));
    case types.long:
      return (value) => JSON.stringify(String(value));
    case types.json:
      return (value) => (typeof value === 'string' ? value : textOf(value));
    case types.timestamp:
      return (value) => JSON.stringify(`${momentOf(value)}+00:00`);
    case types.dateTime:
      return (value) => JSON.stringify(momentOf(value));
    default:
      return textOf;
  }
}

function momentOf(value: unknown): string {
  const [moment = '', fraction = ''] = String(value).replace(' ', 'T').split('.');
  const digits = fraction.replace(/0+$/, '');
  return digits === '' ? moment : `${moment}.${digits}`;
}

/** Bytes are base64, as in every answer. */
function textOf(value: unknown): string {
  return JSON.stringify(Buffer.isBuffer(value) ? value.toString('base64') : value);
}

function putText(sink: RowSink, text: string): void {
  const size = Buffer.byteLength(text);
  const row = Buffer.allocUnsafe(4 + size);
  row.writeInt32BE(size);
  row.write(text, 4);
  sink.row(row, 0, row.length);
}
