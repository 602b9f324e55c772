/** One try of a write in the name of an access class, on a database on which it leaves nothing. */
import type { Caller } from '../caller.ts';
import type { Database, Outcome, Parameter, RowSink, Statement, Transaction } from '../database/database.ts';
import { isAborted } from '../database/errors.ts';
import { rowContextOf } from '../database/row-context.ts';
import { sqlDialects } from '../dialects/index.ts';
import { PlatformError } from '../errors.ts';
import { parseBodyText } from '../json/body.ts';
import type { AccessClass, CompiledApi, JsonValue } from '../language/index.ts';
import { readItemPath, splitTarget } from '../query/parse/target.ts';
import { createPlanner } from '../query/planner.ts';
import { createSystemWrites } from '../resources/system-writes.ts';
import type { WriteCommand } from '../write/write-command.ts';
import { createWriter, type Writer, type WriterOptions } from '../write/writer.ts';

/** A request that writes items. */
export interface WriteToExplain {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  /** `/items/articles/1?fields=id` */
  readonly target: string;
  /** Text of the body; empty for none. */
  readonly body: string;
}

export const actions = { POST: 'create', PATCH: 'update', DELETE: 'delete' } as const;

/** A write with everything that decides about it. */
export interface ExplainedRequest {
  readonly api: CompiledApi;
  readonly write: WriteToExplain;
  readonly caller: Caller;
  /** Null: statements get no answer. */
  readonly database: Pick<Database, 'transaction'> | null;
  /** Limits of requests. Default: those of the API specification, section 16. */
  readonly limits?: WriteLimits;
}

/** Limits of requests that write. */
export type WriteLimits = Pick<WriterOptions, 'limits' | 'fieldLimits' | 'maxItems'>;

export interface Tried {
  readonly sent: readonly SentStatement[];
  readonly complete: boolean;
  readonly answer?: JsonValue;
  /** Error that the caller would get instead. */
  readonly error?: PlatformError;
}

/** Runs the write in the name of an access class as far as the rehearsal goes. */
export async function tryOut(
  { api, write, caller, database, limits }: ExplainedRequest,
  access: AccessClass,
): Promise<Tried> {
  const { defersConstraints } = sqlDialects[api.dialect];
  const dryRun = database === null ? silentDryRun() : rolledBackDryRun(database, defersConstraints);
  // Hooks are code of the project, which an explanation must not run.
  const others = api.access.filter(({ name }) => name !== access.name);
  const judged: CompiledApi = { ...api, access: [...others, access], extensions: [] };
  try {
    const body = write.body === '' ? undefined : parseBodyText(write.body);
    refuseSingleton(api, write, access);
    const ask = askOf(judged, write, { ...caller, accessClass: access.name }, body);
    const result = await execute(judged, dryRun, ask, limits);
    const parsed: JsonValue = result === null ? null : JSON.parse(result.toString('utf8'));
    return { sent: dryRun.sent(), complete: true, answer: parsed };
  } catch (error) {
    const done = { sent: dryRun.sent(), complete: dryRun.complete() };
    if (error instanceof Unanswered) return done;
    if (!(error instanceof PlatformError) || error.status >= 500) throw error;
    return { ...done, error };
  }
}

/** A singleton is one object, without keys. A caller who may not read it must not learn even that. */
function refuseSingleton({ collections }: CompiledApi, { method, target }: WriteToExplain, access: AccessClass): void {
  const item = readItemPath(splitTarget(target).path);
  const isOne = collections.some(({ name, singleton }) => singleton && name === item?.collection);
  if (!isOne || (method === 'PATCH' && item?.key === null)) return;
  const read = access.collections.find(({ collection }) => collection === item?.collection)?.read ?? [];
  if (read.length > 0) throw new PlatformError('ROUTE_NOT_FOUND');
}

async function execute(
  api: CompiledApi,
  { database }: DryRun,
  command: WriteCommand,
  limits: WriteLimits = {},
): Promise<Buffer | null> {
  const planner = createPlanner(api, limits.limits && { limits: limits.limits });
  const writer = createWriter({
    ...{ api, database, planner, timeoutMs: 0, ...limits },
    reportError: () => {},
    driftGuard: () => {},
    system: createSystemWrites({ api }),
  });
  return run(writer, command);
}

async function run(writer: Writer, { action, request, item, singleton, body }: WriteCommand): Promise<Buffer | null> {
  if (action === 'create') return (await writer.create(request, body)).body;
  if (action === 'delete') return item === undefined ? writer.delete(request, body) : writer.deleteOne(request, item);
  if (singleton === true) return writer.updateSingleton(request, body);
  return item === undefined ? writer.update(request, body) : writer.updateOne(request, item, body);
}

/** The write as the routes would ask it. */
function askOf(
  api: CompiledApi,
  { method, target }: WriteToExplain,
  caller: Caller,
  body: JsonValue | undefined,
): WriteCommand {
  const { path, query } = splitTarget(target);
  const { collection = '', key = null } = readItemPath(path) ?? {};
  const action = actions[method];
  const byKey = key !== null;
  const route = api.routes.find(
    (candidate) =>
      candidate.collection.name === collection && candidate.operation === action && candidate.byKey === byKey,
  );
  const request = {
    caller,
    // A collection without a route does not exist.
    collection: route === undefined ? '' : collection,
    query,
    sender: { ip: null, userAgent: null, origin: null },
  };
  const singleton = action === 'update' && route?.collection.singleton === true;
  return { action, request, body, ...(key !== null && { item: key }), ...(singleton && { singleton }) };
}

type WritableDatabase = Pick<Database, 'transaction' | 'briefTransaction' | 'read'>;

/** A statement that a write has sent. */
export interface SentStatement {
  readonly statement: Statement;
  readonly parameters: readonly Parameter[];
}

interface DryRun {
  readonly database: WritableDatabase;
  /** Statements that the latest try at the transaction has sent, in order. */
  readonly sent: () => readonly SentStatement[];
  /** True if the latest try got to its end, so that nothing would follow but COMMIT. */
  readonly complete: () => boolean;
}

/** Ends a rehearsal that gets no answer from a database; this is no failure. */
class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

/** A database that takes what a write sends until it waits for an answer, and then rejects with `Unanswered`. */
function silentDryRun(): DryRun {
  const record = new Recorder();
  const silence: Transaction = {
    run() {
      const result = new Promise<never>((_, reject) => {
        // Statements that belong together are sent in one turn of the event loop.
        setImmediate(() => reject(new Unanswered('Statements have no results here.')));
      });
      // A caller that sends several statements waits for one of them only.
      result.catch(() => {});
      return result;
    },
    identify() {},
    proof() {},
  };
  return record.dryRun((work) => work(silence));
}

/** All constraints that wait for COMMIT speak now. */
const checkConstraints: Statement = { name: 'w_settle', text: 'SET CONSTRAINTS ALL IMMEDIATE' };

/**
 * A database that rolls back every transaction at its end, after it has answered. Effects that no rollback undoes stay:
 * numbers of sequences, and effects of triggers elsewhere. `deferrable`: true if constraints may wait for COMMIT.
 */
function rolledBackDryRun(database: Pick<Database, 'transaction'>, deferrable: boolean): DryRun {
  const record = new Recorder();
  return record.dryRun(async (work) => {
    let reached: unknown;
    try {
      await database.transaction(async (transaction) => {
        await work(transaction);
        if (deferrable) await transaction.run({ ...checkConstraints, ...record.side() }, [], { row: () => {} });
        reached = new TakenBack('The rehearsal is over.');
        throw reached;
      });
    } catch (error) {
      if (error !== reached) throw error;
    }
  });
}

/** Ends a transaction that has come to its end. */
class TakenBack extends Error {}

/** Remembers what is sent. */
class Recorder {
  #sent: SentStatement[] = [];
  #complete = false;
  /** Error of the first statement that failed. */
  #failure: unknown;

  /** A rehearsal on transactions that `run` begins and ends. */
  dryRun(run: (work: (transaction: Transaction) => Promise<void>) => Promise<void>): DryRun {
    const transaction = async <T>(work: (transaction: Transaction) => Promise<Outcome<T>>): Promise<T> => {
      let result: Outcome<T> | undefined;
      await run(async (inner) => {
        this.#sent = [];
        this.#complete = false;
        this.#failure = undefined;
        const seen = this.#watched(inner);
        result = await work(seen);
        const { last } = result;
        this.#complete = true;
        if (last !== undefined) await seen.run(last.statement, last.parameters, last.sink());
      }).catch((error: unknown) => {
        // Statements after one that failed fail for that alone, and may be waited for before it.
        throw error instanceof Error && isAborted(error.cause) ? (this.#failure ?? error) : error;
      });
      if (result === undefined) throw new Error('a rehearsal ended without having begun');
      return result.value;
    };
    return {
      database: {
        transaction,
        briefTransaction: (work) => transaction(async (inner) => ({ value: await work(inner) })),
        read: () => Promise.reject(new Unanswered('Nothing is read outside of a write.')),
      },
      sent: () => this.#sent,
      complete: () => this.#complete,
    };
  }

  /** Side of the latest statement of a caller, as a member of another. */
  side(): Pick<Statement, 'runsAs'> {
    const latest = this.#sent.findLast(({ statement }) => rowContextOf(statement) !== undefined);
    return latest?.statement.runsAs === undefined ? { runsAs: 'server' } : { runsAs: latest.statement.runsAs };
  }

  #watched(inner: Transaction): Transaction {
    return {
      run: (statement: Statement, parameters: readonly Parameter[], sink: RowSink) => {
        this.#sent.push({ statement, parameters });
        const running = inner.run(statement, parameters, sink);
        running.catch((error: unknown) => {
          this.#failure ??= error;
        });
        return running;
      },
      identify: (id) => inner.identify(id),
      ...(inner.proof && { proof: (commitProof) => inner.proof?.(commitProof) }),
    };
  }
}
