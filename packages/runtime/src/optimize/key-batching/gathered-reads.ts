/**
 * Reads by key that come at once and differ only in the key, as one statement. The cost of each statement for the
 * server and the driver is most of the cost of such a read.
 *
 * Transparent to callers: each gets its own row. If the statement fails, every caller that has no row yet reads again
 * alone, so no caller gets an error that another one caused.
 */

import type { BatchReader, KeyList } from '../../database/connection-seams.ts';
import {
  announceShared,
  createNote,
  type Database,
  type KeyKind,
  type Parameter,
  type ReadClient,
  type RowSink,
  type Statement,
} from '../../database/database.ts';
import { ConnectionError, toDatabaseError } from '../../database/errors.ts';
import { nameUnder, runAs } from '../../database/row-context.ts';
import { where } from '../../dialects/fragment.ts';
import { isClientGone, PlatformError } from '../../errors.ts';
import type { FieldDescriptor } from '../../language/index.ts';
import { derivedOnce } from '../../language/values/once.ts';
import type { ReadPlan, ReadQuery } from '../../query/plan/plan.ts';
import { type BatchKey, batchKey } from '../../query/plan/plan-keys.ts';
import { type ReadPass, runFor, startRead, statementOf } from '../../query/plan/plan-read.ts';
import { answerList, printSelection } from '../../query/plan/plan-selection.ts';
import { operandType } from '../../sql/operand.ts';
import type { Row } from '../../sql/row.ts';
import { createStatement } from '../../sql/statement.ts';

type ReadOne = Database['read'];

/** Keys of one statement at most: so many rows are found in a tenth of a millisecond. */
const maxBatch = 32;
/** Milliseconds after which a running group no longer delays others. */
const maxDelayMs = 2;

/** One read that waits for its row. */
interface Waiting {
  readonly key: string;
  readonly parameters: readonly Parameter[];
  readonly sink: RowSink;
  readonly client: ReadClient | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  done: boolean;
  /** Another one with the same key. */
  same: Waiting | undefined;
}

/** Reads of one statement that differ in the key. */
interface Group {
  readonly name: string;
  readonly statement: Statement;
  readonly keyBatch: KeyBatch;
  readonly waiting: Waiting[];
}

/** Makes reads that come at once go together; `read` runs one statement. */
export function gatherReads(read: ReadOne, form: BatchReader): ReadOne {
  const groups = new Groups(read, form);
  return (statement, parameters, sink, client) => {
    const batched = keyBatchOf.of(statement);
    const key = batched === undefined ? undefined : parameters[batched.at];
    if (batched === undefined || key === undefined || key === null) return read(statement, parameters, sink, client);
    sink.joins?.();
    return new Promise((resolve, reject) => {
      const { waiting } = groups.groupOf(statement, batched, parameters);
      waiting.push({ key, parameters, sink, client, resolve, reject, done: false, same: undefined });
    });
  };
}

/** Groups of one database that wait, and their number under way. */
class Groups {
  readonly #read: ReadOne;
  readonly #form: BatchReader;
  readonly #bounded: boolean;
  readonly #queue: Group[] = [];
  readonly #open = new Map<string, Group>();
  #starting = false;
  #underWay = 0;

  constructor(read: ReadOne, form: BatchReader) {
    this.#read = read;
    this.#form = form;
    this.#bounded = form.maxRunning !== Number.POSITIVE_INFINITY;
  }

  groupOf(statement: Statement, batch: KeyBatch, parameters: readonly Parameter[]): Group {
    const name =
      parameters.length === 1 ? ownName(statement) : nameUnder(statement, nameOf(statement, batch, parameters));
    const cached = this.#open.get(name);
    if (cached !== undefined && cached.waiting.length < maxBatch) return cached;
    const group = { name, statement, keyBatch: batch, waiting: [] };
    this.#open.set(name, group);
    this.#queue.push(group);
    this.#startSoon();
    return group;
  }

  #startSoon(): void {
    if (this.#starting || this.#queue.length === 0 || this.#underWay >= this.#form.maxRunning) return;
    this.#starting = true;
    setImmediate(this.#start);
  }

  readonly #start = (): void => {
    this.#starting = false;
    while (this.#queue.length > 0 && this.#underWay < this.#form.maxRunning) {
      const group = this.#queue.shift();
      if (group === undefined) return;
      if (this.#open.get(group.name) === group) this.#open.delete(group.name);
      const running = run(this.#read, this.#form, group);
      if (this.#bounded) this.#watch(running);
    }
    this.#form.sent?.();
  };

  /** Counts a group as under way until it has ended, or has taken too long. */
  #watch(running: Promise<void>): void {
    let counted = true;
    this.#underWay++;
    const pass = (): void => {
      if (!counted) return;
      counted = false;
      clearTimeout(timer);
      this.#underWay--;
      this.#startSoon();
    };
    const timer = setTimeout(pass, maxDelayMs);
    void running.then(pass);
  }
}

/** Names of statements under the settings of callers: a text that is joined and looked up costs more than its join. */
const ownNameUnder = derivedOnce((statement: Statement) => nameUnder(statement, statement.name));

/** Name of the group of a statement whose only parameter is its key. */
function ownName(statement: Statement): string {
  return statement.runsAs === undefined ? statement.name : ownNameUnder(statement);
}

/** Reads go together where everything but the key is the same. */
function nameOf({ name }: Statement, { at: position }: KeyBatch, parameters: readonly Parameter[]): string {
  return JSON.stringify([name, parameters.map((parameter, index) => (index === position ? 0 : parameter))]);
}

/** Reads the rows that a group waits for, and in every case settles all its reads. */
async function run(read: ReadOne, { ask }: BatchReader, { statement, keyBatch: batch, waiting }: Group): Promise<void> {
  const [first] = waiting;
  const alone = (readAlone: Waiting): void => {
    const { parameters, sink, client, resolve } = readAlone;
    read(statement, parameters, sink, client).then(resolve, (error: unknown) => fail(readAlone, error));
    sink.requested?.();
  };
  if (first === undefined) return;
  if (waiting.length === 1) return alone(first);
  const byKey = new Map<string, Waiting>();
  const keys: string[] = [];
  for (const read of waiting) {
    read.same = byKey.get(read.key);
    if (read.same === undefined) keys.push(read.key);
    byKey.set(read.key, read);
  }
  let strange = false;
  let answeredAt = 0;
  let isSent = false;
  const row: RowSink['row'] = (buffer, offset, length) => {
    if (answeredAt === 0) answeredAt = performance.now();
    const end = offset + 4 + buffer.readInt32BE(offset);
    let read = byKey.get(readKey(buffer, offset + 4, end, batch.kind));
    if (read === undefined) strange = true;
    for (; read !== undefined; read = read.same) hand(read, buffer, end, offset + length - end, answeredAt);
  };
  const sent = (now: number): void => {
    isSent = true;
    for (const { sink } of waiting) sink.sent?.(now);
  };
  const batched = ask(batch, keys, first.parameters);
  const { runsAs: rowContext } = statement;
  const batchedStatement = rowContext === undefined ? batched.statement : runAs(batched.statement, { rowContext });
  const ended = announceShared(batch.statement, waiting);
  try {
    const running = read(batchedStatement, batched.parameters, { row, sent }, new GroupClient(waiting));
    if (!isSent) for (const { sink } of waiting) sink.requested?.();
    await running;
  } catch (error) {
    ended?.({ error });
    const lost = isClientGone(error) || (error instanceof PlatformError && error.cause instanceof ConnectionError);
    for (const read of waiting.filter(({ done }) => !done)) {
      if (lost) fail(read, error);
      else alone(read);
    }
    return;
  }
  ended?.();
  for (const read of waiting) {
    if (read.done) continue;
    if (strange) alone(read);
    else finish(read);
  }
}

/** All clients of a group as one, which is gone when none waits any more. */
class GroupClient implements ReadClient {
  readonly address = '';
  readonly #waiting: readonly Waiting[];

  constructor(waiting: readonly Waiting[]) {
    this.#waiting = waiting;
  }

  get isGone(): boolean {
    return this.#waiting.every(({ done, client }) => done || client?.isGone === true);
  }
}

/** Gives a read its row, which is the only one that it can have. */
function hand(read: Waiting, buffer: Buffer, offset: number, length: number, now: number): void {
  if (read.done) return;
  try {
    read.sink.row(buffer, offset, length);
    finish(read, now);
  } catch (error) {
    read.done = true;
    fail(read, toDatabaseError(error));
  }
}

function finish(read: Waiting, now?: number): void {
  read.done = true;
  try {
    read.sink.end?.(now);
    read.resolve();
  } catch (error) {
    fail(read, toDatabaseError(error));
  }
}

function fail({ sink, reject }: Waiting, error: unknown): void {
  sink.failed?.(error);
  reject(error);
}

/**
 * A read by key, for several keys. Each row begins with its key, in no order; the rest of it is that of the read by one
 * key. In this statement the parameter is the list of keys, in the other the key; all others are the same in both.
 */
interface KeyBatch extends KeyList {
  readonly kind: KeyKind;
}

/** The statement for several keys, of one that reads one row by one key. */
export const keyBatchOf = createNote<KeyBatch>('key batch');

/** Adds the statement for several keys to reads by key that look nothing up. */
export const planKeyBatch: ReadPass = (plan, { query }) => {
  const key = query.selector === 'key' && plan.statement.brief ? batchKey(query.selection.collection) : undefined;
  const batch = key && planBatch(query, key);
  const position = plan.binders.findIndex((binder) => binder.kind === 'value' && binder.index === query.values);
  // All other parameters of the text have to be the same.
  if (key === undefined || batch?.binders.length !== plan.binders.length || position < 0) return plan;
  const statement = runFor(query, query.selection.collection, { ...batch.statement, brief: true });
  return { ...plan, statement: keyBatchOf.on(plan.statement, { at: position, kind: key.kind, statement }) };
};

/** Plans the read of several keys: for each row its key, then the columns that the read by one key selects. */
function planBatch(query: ReadQuery, { field }: BatchKey): Pick<ReadPlan, 'statement' | 'binders'> {
  const statement = createStatement(query.operands, query.scope.dialect);
  const { row, from, matching } = startRead(query, statement, (row) => [printBatchKey(row, field, query.values)]);
  const { expressions, fields } = printSelection(row, query.selection, query.nested);
  const columns = answerList(statement, [row.column(field.column)], expressions, fields);
  return statementOf(statement.finish(`SELECT ${columns} FROM ${from}${where(matching)}`));
}

/** The predicate that picks items by one of several keys, whose values stand at `index`. */
function printBatchKey(row: Row, field: FieldDescriptor, index: number): string {
  const { statement } = row;
  const read = (native: string): string => statement.parameter({ kind: 'value', index }, native);
  return statement.dialect.byKeyList(row.column(field.column), operandType(field).native, read);
}

/** Groups of the digits of a UUID, which dashes part. */
const uuidPattern = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;
const uuidBytes = 16;

/** The key in some bytes of a row as the text that a parameter has for it. */
function readKey(buffer: Buffer, start: number, end: number, kind: KeyKind): string {
  return kind === 'integer' ? String(integerAt(buffer, start, end)) : uuidAt(buffer, start, end);
}

function integerAt(buffer: Buffer, start: number, end: number): number | bigint {
  if (end - start === 4) return buffer.readInt32BE(start);
  if (end - start === 2) return buffer.readInt16BE(start);
  const value = buffer.readInt32BE(start) * 2 ** 32 + buffer.readUInt32BE(start + 4);
  return Number.isSafeInteger(value) ? value : buffer.readBigInt64BE(start);
}

/** In bytes, or where the server keeps it as a text, as that. */
function uuidAt(buffer: Buffer, start: number, end: number): string {
  if (end - start !== uuidBytes) return buffer.toString('latin1', start, end);
  return buffer.toString('hex', start, end).replace(uuidPattern, '$1-$2-$3-$4-$5');
}
