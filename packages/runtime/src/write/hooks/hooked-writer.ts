/** Writes for which code of the project waits: `before`, the write itself, `after`, all in one transaction. */
import type { Caller } from '../../caller.ts';
import type { Database, ReadClient } from '../../database/database.ts';
import { sqlDialects } from '../../dialects/index.ts';
import type { DriftGuard } from '../../drift-watch.ts';
import { PlatformError } from '../../errors.ts';
import { codeInTime, type EventHooks, gatherHooks, type ObserveHook } from '../../extensions/hooks.ts';
import type { CompiledApi, RegisteredHook } from '../../language/index.ts';
import type { Planner } from '../../query/planner.ts';
import type { Keys } from '../decode/keys.ts';
import type { RequestOrigin, Running } from '../execute/running.ts';
import type { TransactionBody, Written } from '../execute/transaction-body.ts';
import { explainViolation } from '../execute/violation.ts';
import type { WriteExecutor, WriteExecutorOptions } from '../execute/write-executor.ts';
import { mayHaveConflict } from '../upsert/conflict.ts';
import { type Action, type HookPayload, prepareCommand, type WriteCommand } from '../write-command.ts';
import { notingSteps, type WriteContext, type WritePlan, type WriteRequest } from '../write-plan.ts';
import {
  type AddedField,
  createHookCalls,
  createItems,
  type HookCalls,
  type HookItemsContext,
  refusedFields,
} from './hook-calls.ts';
import { check, checkStored, openTarget } from './hook-target.ts';
import {
  type Begun,
  createHookReads,
  createHookTransactions,
  type HookRead,
  type HookTransactions,
  type TransactionAttempt,
  watchBegun,
} from './hook-transactions.ts';
import { hookTree, reachesHooks, watchTree } from './hook-tree.ts';

export interface HookOptions {
  readonly api: CompiledApi;
  /** Throws SERVICE_UNAVAILABLE for a statement about a collection that no longer fits the database. */
  readonly driftGuard: DriftGuard;
  /** Plans the reads of hooks. */
  readonly planner: Planner;
  /** Milliseconds that one hook may take. */
  readonly timeoutMs: number;
  /** Receives errors of hooks that run after the response was sent. */
  readonly reportError: (event: string, thrown: unknown) => void;
  /** Default: hooks are run as they are. */
  readonly observeHook?: ObserveHook;
}

/** Options of the writer with hooks: those of the plain writer, and the executor that runs write plans. */
interface HookedWriterOptions extends HookOptions {
  readonly database: Pick<Database, 'transaction' | 'read'>;
  /** Receives fields of hooks because of which a write is refused: the answer tells none. Default: they are not reported. */
  readonly reportRefused?: ((added: AddedField) => void) | undefined;
  readonly open: (request: WriteRequest) => WriteContext;
  readonly executor: Pick<WriteExecutor, 'checkGuard' | 'write'>;
  /** The platform's part, which is told of committed transactions. */
  readonly system?: Required<Pick<WriteExecutorOptions, 'committed'>>;
}

/** The writer of requests that hooks wait for. */
export type HookedWriter = ReturnType<typeof createHookedWriter>;

/** Runs a function whose reads and writes are one transaction, again from the start when the transaction is. */
type RunInTransaction = <T>(work: (items: unknown) => T | Promise<T>) => Promise<T>;

/** Hooks that write what hooks wait for: beyond this it is a circle. */
const maxDepth = 8;

const noHooks: EventHooks = { before: [], after: [], afterCommit: [] };

/** Makes the writer. Throws for hooks of events that the API has not. */
export function createHookedWriter(options: HookedWriterOptions) {
  const { open, executor, database } = options;
  const transactions = createHookTransactions(database, options.system?.committed);
  const writes = new HookedWrites(options, transactions);
  return {
    waitFor: (command: WriteCommand): boolean =>
      writes.hooks.collections.size > 0 && writes.waits(open(command.request), command),
    /** Judges what was sent, and gives what is left to do. Throws as preparing a write does. */
    async workOf(command: WriteCommand): Promise<TransactionBody> {
      const context = open(command.request);
      const judged = await check(() => prepareCommand(context, command, command.body));
      return transactions.withAttempts(
        async (attempt) => {
          await checkStored(context, command, runningIn(options, attempt, command), executor);
          return writes.writeIn(attempt, command, 0, judged);
        },
        judged,
        command.request.judgesFirst,
      );
    },
    /** Read and write access for project code that runs outside a write. */
    openFor: (
      caller: Caller,
      sender: RequestOrigin,
      client?: ReadClient,
    ): { readonly items: unknown; readonly transaction: RunInTransaction } => writes.openFor(caller, sender, client),
    /** Resolves when no hook runs any more that waited for a COMMIT. */
    settled: transactions.settled,
  };
}

/** Writes within attempts of transactions. */
class HookedWrites {
  readonly hooks: ReturnType<typeof gatherHooks>;
  readonly #options: HookedWriterOptions;
  readonly #transactions: HookTransactions;
  readonly #openItems: ReturnType<typeof createItems>;
  readonly #readWith: HookRead;
  readonly #calls: HookCalls;

  constructor(options: HookedWriterOptions, transactions: HookTransactions) {
    const { api, driftGuard, planner, timeoutMs, reportError } = options;
    this.hooks = gatherHooks(api, options.observeHook);
    this.#options = options;
    this.#transactions = transactions;
    this.#openItems = createItems(api);
    this.#readWith = createHookReads(planner, driftGuard);
    this.#calls = createHookCalls(this.#openItems, timeoutMs, reportError);
  }

  /** A POST may turn out to change items, which its other hooks wait for. */
  waits(context: WriteContext, command: WriteCommand): boolean {
    const changes =
      command.action === 'create' && mayHaveConflict(context.query) && this.#hooksFor(command, 'update') !== noHooks;
    return changes || this.#hooksFor(command, command.action) !== noHooks || reachesHooks(context, command, this.hooks);
  }

  /** Runs a write and its hooks in a transaction attempt. `judged` is what was made of the body as it was sent. */
  async writeIn(
    attempt: TransactionAttempt,
    command: WriteCommand,
    depth: number,
    judged?: WritePlan,
  ): Promise<Written> {
    const { hooks } = this;
    const { executor, open } = this.#options;
    const context = open(command.request);
    if (!this.waits(context, command))
      return writePlan(executor, attempt, command, await prepareCommand(context, command, command.body));
    if (depth > maxDepth)
      throw new Error(`Hooks of "${command.request.collection}.${command.action}" call each other forever.`);
    const begun = watchBegun();
    const itemsContext = this.#itemsContextIn(attempt, begun, depth, command.request.sender);
    const added: AddedField[] = [];
    const call = async (called: readonly RegisteredHook[], hookPayloads: readonly HookPayload[]): Promise<void> => {
      await this.#calls.callAll(called, hookPayloads, itemsContext, command.request.caller, added);
      await begun.resolve();
    };
    const running = runningIn(this.#options, attempt, command);
    const target = await openTarget(context, command, running, judged);
    for (const hookPayload of target.topPayloads)
      await call(this.#hooksFor(command, hookPayload.action).before, [hookPayload]);
    const finishPayloads = async () => {
      const body = await hookTree({ context, target, hooks, running, call }, target.bodyOf(target.topPayloads));
      return { body, plan: await target.prepare(body) };
    };
    const refused = (error: unknown): never => this.#reportRefused(error, added);
    const { body, plan } = await finishPayloads().catch(refused);
    const below = watchTree({ context, hooks, call });
    // Stored items decide what the rest writes, so some fields are judged only then.
    const done = await writePlan(executor, attempt, command, plan, below).catch(refused);
    const top = target.written(body, done.keys);
    const all = [
      ...top.map((hookPayload) => ({ hooks: this.#hooksFor(command, hookPayload.action), payloads: [hookPayload] })),
      ...below.done,
    ];
    for (const event of all) await call(event.hooks.after, event.payloads);
    const { caller, sender } = command.request;
    attempt.committed.push(() => this.#calls.callAfterCommit(all, this.#outside(sender, depth), caller));
    return done;
  }

  /** Tells of fields that hooks have added, because of which nothing is written. */
  #reportRefused(error: unknown, added: readonly AddedField[]): never {
    const isRefused = error instanceof PlatformError && error.code === 'FORBIDDEN';
    for (const field of isRefused ? refusedFields(error, added) : []) this.#options.reportRefused?.(field);
    throw error;
  }

  openFor(caller: Caller, sender: RequestOrigin, client?: ReadClient): ReturnType<HookedWriter['openFor']> {
    return {
      items: this.#openItems(this.#outside(sender, 0, client), caller),
      transaction: this.#transactionFor(caller, sender),
    };
  }

  #hooksFor({ request }: WriteCommand, action: Action): EventHooks {
    return this.hooks.of(`${request.collection}.${action}`) ?? noHooks;
  }

  #itemsContextIn(attempt: TransactionAttempt, begun: Begun, depth: number, sender: RequestOrigin): HookItemsContext {
    return {
      sender,
      read: (...requested) =>
        this.#readWith(
          (statement, parameters, sink) => attempt.transaction.run(statement, parameters, sink),
          ...requested,
        ),
      write: (command) => begun.follow(this.#writeNested(attempt, command, depth + 1)),
    };
  }

  async #writeNested(attempt: TransactionAttempt, command: WriteCommand, depth: number): Promise<Keys | null> {
    try {
      return (await this.writeIn(attempt, command, depth)).keys;
    } catch (error) {
      throw explainViolation(error, attempt.affected);
    }
  }

  /** Every read and write on its own; its hooks count with those that led here. */
  #outside(sender: RequestOrigin, depth: number, client?: ReadClient): HookItemsContext {
    const { database } = this.#options;
    const { runAlone, withAttempts } = this.#transactions;
    const read: Database['read'] = (statement, parameters, sink) => database.read(statement, parameters, sink, client);
    return {
      sender,
      read: (...requestedItem) => this.#readWith(read, ...requestedItem),
      write: async (command) =>
        (await runAlone(withAttempts((attempt) => this.writeIn(attempt, command, depth + 1)))).keys,
    };
  }

  #transactionFor(caller: Caller, sender: RequestOrigin): RunInTransaction {
    const { runAlone, withAttempts } = this.#transactions;
    return (work) =>
      runAlone(
        withAttempts(async (attempt) => {
          const begun = watchBegun();
          const items = this.#openItems(this.#itemsContextIn(attempt, begun, 0, sender), caller);
          const value = await codeInTime(work(items), this.#options.timeoutMs, 'The transaction of a route');
          await begun.resolve();
          return value;
        }),
      );
  }
}

async function writePlan(
  executor: Pick<WriteExecutor, 'write'>,
  attempt: TransactionAttempt,
  { request }: WriteCommand,
  unnoted: WritePlan,
  below?: ReturnType<typeof watchTree>,
): Promise<Written> {
  const plan = notingSteps(unnoted);
  attempt.affected.push(...plan.affected());
  attempt.plans.push(plan);
  const work: WritePlan['work'] = (running) => plan.work({ ...running, judgesFirst: true });
  try {
    const judged = attempt.judgesFirst ? { ...plan, work } : plan;
    return await executor.write(attempt.transaction, request, judged, below?.watcher);
  } catch (error) {
    throw explainViolation(error, plan.affected());
  }
}

/** A step that only looks. */
function runningIn(
  { api, driftGuard }: Pick<HookedWriterOptions, 'api' | 'driftGuard'>,
  { transaction }: TransactionAttempt,
  { request: { caller, sender } }: WriteCommand,
): Running {
  const dialect = sqlDialects[api.dialect];
  return { transaction, caller, sender, dialect, driftGuard, history: null, systemHooks: new Map() };
}
