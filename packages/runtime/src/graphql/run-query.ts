/** Runs queries: one statement per root field, all at once. */

import type { IncomingMessage } from 'node:http';
import type { Database, Parameter, ReadClient, Statement } from '../database/database.ts';
import { isInterrupted, refusesValue } from '../database/errors.ts';
import { runAs } from '../database/row-context.ts';
import type { DriftGuard } from '../drift-watch.ts';
import { ClientGoneError, invalidQuery, PlatformError, toPlatformError } from '../errors.ts';
import { toFunctionError } from '../functions/service.ts';
import { derivedOnce } from '../language/values/once.ts';
import { type ClientBytes, tooMuchUnsent } from '../limits/unsent.ts';
import { createAnswerWriter } from '../query/answer.ts';
import { unusableCursor } from '../query/parse/cursor.ts';
import { defaultReadLimits } from '../query/parse/parse-read.ts';
import type { ReadLimits } from '../query/parse/request.ts';
import { refuseCost } from '../query/plan/cost.ts';
import { bind } from '../query/planner.ts';
import type { CallSource } from './compile/compile-call.ts';
import type { QueryField, ServiceField } from './compile/compile-query.ts';
import type { RowSource } from './compile/roots.ts';
import type { OperationAnswer, OperationCall } from './documents/operation.ts';
import {
  type CollectedRows,
  type FieldFailure,
  type FieldValue,
  frameOf,
  nullText,
  SplicedRows,
  spliceAnswer,
} from './spliced.ts';

/** Answer of a root field that belongs to no collection: JSON, and headers of the response. */
export interface ServiceAnswer {
  readonly json: Buffer;
  readonly headers: readonly string[];
}

export interface QuerySetting {
  readonly database: Pick<Database, 'read' | 'stream'>;
  readonly limits?: Partial<ReadLimits>;
  /** Counts the bytes that are gathered for answers. Default: they are not counted. */
  readonly unsent?: UnsentOf;
  /** Clients whose reads end when they leave. Default: all stay. */
  readonly clientOf?: (request: OperationCall['request']) => ReadClient;
  /** The statement for a replica, where one may answer the request. Default: none may. */
  readonly late?: ((request: OperationCall['request'], statement: Statement) => Statement) | undefined;
  /** Throws SERVICE_UNAVAILABLE for a statement about a collection that no longer fits the database. */
  readonly driftGuard: DriftGuard;
  /** Does what a root field says that is no collection's, and gives its value. */
  readonly service: (field: ServiceField, call: OperationCall) => Promise<ServiceAnswer>;
  /** Takes what failed at a root field, for the log. */
  readonly report: (request: OperationCall['request'], error: PlatformError) => void;
}

/** Replaces a source whose materialized view is not populated by one without rows; undefined for other failures. */
export type FindPopulated = (source: RowSource, error: unknown) => RowSource | undefined;

/** Context in which one query runs. */
interface Running {
  readonly setting: QuerySetting;
  readonly notPopulated: FindPopulated;
  /** Made with the first large list. */
  readLarge?: ReadLarge;
}

/** Answers a query. Failures of root fields stand in the answer. */
export function runQuery(
  setting: QuerySetting,
  notPopulated: FindPopulated,
  fields: readonly QueryField[],
  call: OperationCall,
): Promise<OperationAnswer> {
  const running: Running = { setting, notPopulated };
  const [only] = fields;
  return only !== undefined && fields.length === 1 && only.source.kind === 'rows'
    ? runOnly(running, only, only.source, call)
    : runAll(running, fields, call);
}

/** Cost of all root fields, each of which is judged by itself; their total cost is known before the first of them is read. */
function costOfAll(fields: readonly QueryField[], { variables }: OperationCall): number {
  return fields.reduce((sum, { source }) => {
    if (source.kind !== 'rows') return sum;
    try {
      return sum + source.prepare(variables).plan.cost;
    } catch {
      // It stands in the answer as what is wrong with its field.
      return sum;
    }
  }, 0);
}

async function runAll(running: Running, fields: readonly QueryField[], call: OperationCall): Promise<OperationAnswer> {
  refuseCost(costOfAll(fields, call), running.setting.limits?.maxCost ?? defaultReadLimits.maxCost);
  const introspected = fields.some(({ source }) => source.kind === 'introspection') ? call.introspect() : null;
  const failures: FieldFailure[] = [];
  const values = await Promise.all(
    fields.map(async (field): Promise<FieldValue> => {
      const { key, nodes } = field;
      try {
        return { key, json: await jsonOf(running, field, call, introspected) };
      } catch (error) {
        failures.push({ key, nodes, ...reported(running.setting, call, error) });
        return { key, json: nullText };
      }
    }),
  );
  return { body: failing(fields, values, failures), headers: noHeaders };
}

const noHeaders: readonly string[] = [];

/** The whole answer is written as its rows arrive. Not async: each promise on the way costs a turn. */
function runOnly(
  running: Running,
  field: QueryField,
  source: RowSource,
  call: OperationCall,
): Promise<OperationAnswer> {
  const { key, nodes } = field;
  return readRows(running, source, call, frameFor(field)).then(
    (body) => ({ body, headers: noHeaders }),
    (error) => {
      const failures = [{ key, nodes, ...reported(running.setting, call, error) }];
      return { body: failing([field], [{ key, json: nullText }], failures), headers: noHeaders };
    },
  );
}

function reported(
  { report }: QuerySetting,
  { request, caller }: OperationCall,
  thrown: unknown,
): Pick<FieldFailure, 'error' | 'namesMissing'> {
  const error = toPlatformError(thrown);
  report(request, error);
  return { error, namesMissing: caller.administrator };
}

const frameFor = derivedOnce(({ key }: QueryField) => frameOf(key));

/** Errors in the order of the document; one at a field that cannot be null leaves no data. */
function failing(
  fields: readonly QueryField[],
  values: readonly FieldValue[],
  failures: readonly FieldFailure[],
): Buffer {
  const failed = new Map(failures.map((failure) => [failure.key, failure]));
  const ordered = fields.flatMap(({ key }) => failed.get(key) ?? []);
  const whole = fields.every(({ key, nullable }) => nullable || !failed.has(key));
  return spliceAnswer(whole ? values : null, ordered);
}

async function jsonOf(
  running: Running,
  { key, source }: QueryField,
  call: OperationCall,
  introspected: ReadonlyMap<string, string> | null,
): Promise<Buffer> {
  switch (source.kind) {
    case 'constant':
      return Buffer.from(source.json);
    case 'introspection':
      return Buffer.from(introspected?.get(key) ?? 'null');
    case 'failure':
      throw source.error;
    case 'service':
      return (await running.setting.service(source.field, call)).json;
    case 'rows':
      return readRows(running, source, call);
    case 'call':
      return runCall(running, source, call);
  }
}

async function runCall(running: Running, source: CallSource, call: OperationCall): Promise<Buffer> {
  const { setting } = running;
  const { variables, caller, request } = call;
  try {
    const { plan, statement, parameters } = source.plan(variables, caller);
    const rows = createAnswerWriter(plan)();
    await setting.database.read(statement, parameters, rows, setting.clientOf?.(request));
    return source.encode(rows.end());
  } catch (error) {
    throw toFunctionError(error, false);
  }
}

/** Not async, as most sources are read at the first try. */
function readRows(
  running: Running,
  source: RowSource,
  call: OperationCall,
  frame?: ReturnType<typeof frameOf>,
): Promise<Buffer> {
  return readSource(running, source, call, frame, (error) => {
    if (source.called !== undefined) throw toFunctionError(error, false);
    // The database reads back what it once wrote into a cursor, so it refuses only forged ones.
    if (source.collect !== undefined && refusesValue(error)) throw unusableCursor();
    const other = running.notPopulated(source, error);
    if (other === undefined) throw error;
    return readSource(running, other, call, frame);
  });
}

/** Reads one item beside the query, as the document selects it; null where it is not there or hidden. */
export async function readItem(setting: QuerySetting, source: RowSource, call: OperationCall): Promise<Buffer> {
  try {
    const { late: _, ...primary } = setting;
    return await readSource({ setting: primary, notPopulated: () => undefined }, source, call);
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'FORBIDDEN') return nullText;
    throw error;
  }
}

const noNames: readonly string[] = [];

const rethrow = (error: unknown): Promise<never> => Promise.reject(error);

/**
 * `recover` may give the answer where the database fails; by default that is thrown. A list whose connection is lost amid
 * its rows is read once more: before the first row, others see to that. Functions, which may do more than read, are not.
 */
function readSource(
  running: Running,
  source: RowSource,
  call: OperationCall,
  frame?: ReturnType<typeof frameOf>,
  recover: (error: unknown) => Promise<Buffer> = rethrow,
  mayRepeat = source.called === undefined,
): Promise<Buffer> {
  const { prepare, keys, collect } = source;
  const { variables, caller, request } = call;
  const { database, driftGuard, late } = running.setting;
  try {
    source.called?.(caller);
    const { plan, values, bounds, large, size = -1 } = prepare(variables);
    const named = keys === null ? noNames : keys(variables, caller);
    driftGuard(plan.statement);
    const { prefix, suffix } = frame ?? {};
    const rows = collect?.(plan, size, prefix, suffix) ?? new SplicedRows(plan, prefix, suffix);
    const isNamedOnly = values.length === 0 && bounds.length === 0;
    const parameters = bind(plan.binders, isNamedOnly ? named : [...values, ...named, ...bounds], caller);
    const statement = runAs(plan.statement, caller);
    const read =
      plan.streamed || large === true
        ? largeLists(running, request)(statement, parameters, rows)
        : database.read(late?.(request, statement) ?? statement, parameters, rows, running.setting.clientOf?.(request));
    return read.then(
      () => {
        if (keys !== null && rows.items === 0) throw new PlatformError('FORBIDDEN');
        return rows.end();
      },
      (error: unknown) => {
        if (!mayRepeat || rows.items === 0 || !isInterrupted(error)) return recover(error);
        return readSource(running, source, call, frame, recover, false);
      },
    );
  } catch (error) {
    return Promise.reject(error);
  }
}

function largeLists(running: Running, request: OperationCall['request']): ReadLarge {
  const { database, unsent, late } = running.setting;
  running.readLarge ??= createLargeLists(database, request, unsent, late);
  return running.readLarge;
}

/** Bytes that the large lists of one operation come to at most. */
const maxBytes = 64 * 1024 ** 2;

/** Reads one list. Rejects with INVALID_QUERY when the lists of the operation come to too much. */
type ReadLarge = (statement: Statement, parameters: readonly Parameter[], rows: CollectedRows) => Promise<void>;

type UnsentOf = (request: IncomingMessage) => ClientBytes;

/**
 * Makes what reads the large lists of one operation; they end when its client leaves.
 *
 * Lists of documents that are too large to be read like others. GraphQL answers are collected before they are sent, so
 * the size that one operation may collect is bounded. Its large lists are read one after the other, in batches, on a
 * connection of their own, so that other requests are answered meanwhile.
 */
function createLargeLists(
  database: Pick<Database, 'stream'>,
  request: IncomingMessage,
  unsentOf: UnsentOf | undefined,
  late: ((request: IncomingMessage, statement: Statement) => Statement) | undefined,
): ReadLarge {
  const { socket } = request;
  const unsent = unsentOf?.(request);
  let left = maxBytes;
  let turn: Promise<unknown> = Promise.resolve();

  async function read(...[statement, parameters, rows]: Parameters<ReadLarge>): Promise<void> {
    const gone = new AbortController();
    const leave = (): void => gone.abort(new ClientGoneError());
    socket.once('close', leave);
    let counted = 0;
    const drained = async (): Promise<void> => {
      unsent?.add(rows.bytes - counted);
      counted = rows.bytes;
      if (unsent?.hasRoomBeside(counted) === false) throw tooMuchUnsent();
      if (rows.bytes <= left) return;
      left = 0;
      throw tooLarge();
    };
    if (left === 0) throw tooLarge();
    try {
      await unsent?.room();
      const sent = late?.(request, statement) ?? statement;
      await database.stream(sent, parameters, rows, drained, gone.signal, unsent?.client);
      await drained();
      left -= rows.bytes;
    } finally {
      unsent?.add(-counted);
      socket.off('close', leave);
    }
  }

  return (...list) => {
    const mine = turn.then(() => read(...list));
    turn = mine.catch(() => {});
    return mine;
  };
}

function tooLarge(): PlatformError {
  return invalidQuery(`The answer is larger than ${maxBytes} bytes; ask for fewer items.`);
}
