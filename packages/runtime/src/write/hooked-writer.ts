/** Writes for which code of the project waits: `before`, the write itself, `after`, all in one transaction. */

import type { Caller } from '../caller.ts';
import type { CompiledApi, HookEvent, RegisteredHook } from '../contract/index.ts';
import type { Database } from '../database/database.ts';
import type { Gate } from '../database/gate.ts';
import { callHook, type EventHooks, gatherHooks, inTime } from '../extensions/hooks.ts';
import { createItems, type Desktop } from '../extensions/items.ts';
import { type Begun, type Scene, watchBegun } from '../extensions/scene.ts';
import type { Planner } from '../query/planner.ts';
import { sqlDialects } from '../sql/dialects/index.ts';
import { type Action, type Ask, type Portion, prepareAsk } from './ask.ts';
import { judge, judgeStored, openTarget } from './hook-target.ts';
import { type DoneBelow, hookTree, reachesHooks, watchTree } from './hook-tree.ts';
import type { Desk, Job, Sender, WriteRequest } from './job.ts';
import type { Keys } from './keys.ts';
import type { Performer, Work, Written } from './perform.ts';
import { createHookReads, createScenes } from './scenes.ts';
import type { Running } from './step.ts';
import { mayHaveConflict } from './upsert/conflict.ts';
import { tellViolation } from './violation.ts';

/** Options of the writer with hooks: those of the plain writer, and the executor that runs write plans. */
export interface HookedWriterOptions {
  readonly api: CompiledApi;
  readonly database: Pick<Database, 'transaction' | 'read'>;
  readonly gate: Gate;
  readonly planner: Planner;
  /** Milliseconds that one hook may take. */
  readonly patience: number;
  /** Receives errors of hooks that run after the response was sent. */
  readonly complain: (event: string, thrown: unknown) => void;
  readonly open: (request: WriteRequest) => Desk;
  readonly performer: Pick<Performer, 'checkGuard' | 'write'>;
}

/** The writer of requests that hooks wait for. */
export interface HookedWriter {
  /** True if any hook is registered for a write. */
  waitFor(ask: Ask): boolean;
  /** Judges what was sent, and gives what is left to do. Throws as preparing a write does. */
  workOf(ask: Ask): Promise<Work>;
  /** Read and write access for project code that runs outside a write. */
  openFor(caller: Caller, sender: Sender): { readonly items: unknown; readonly transaction: RunInTransaction };
  /** Resolves when no hook runs any more that waited for a COMMIT. */
  settled(): Promise<void>;
}

/** Runs a function whose reads and writes are one transaction, again from the start when the transaction is. */
export type RunInTransaction = <T>(work: (items: unknown) => T | Promise<T>) => Promise<T>;

/** Hooks that write what hooks wait for: beyond this it is a circle. */
const mostDepth = 8;

const noHooks: EventHooks = { before: [], after: [], afterCommit: [] };

/** Makes the writer. Throws for hooks of events that the API has not. */
export function createHookedWriter(options: HookedWriterOptions): HookedWriter {
  const { api, database, gate, planner, patience, complain, open, performer } = options;
  const hooks = gatherHooks(api);
  const openItems = createItems(api);
  const { inScenes, runAlone, settled } = createScenes(database);
  const readWith = createHookReads(planner, gate);

  const hooksFor = ({ request }: Ask, action: Action): EventHooks =>
    hooks.of(`${request.collection}.${action}`) ?? noHooks;

  /** A POST may turn out to change items, which its other hooks wait for. */
  function waits(desk: Desk, ask: Ask): boolean {
    const changes = ask.action === 'create' && mayHaveConflict(desk.query) && hooksFor(ask, 'update') !== noHooks;
    return changes || hooksFor(ask, ask.action) !== noHooks || reachesHooks(desk, ask, hooks);
  }

  async function callAll(
    called: readonly RegisteredHook[],
    portions: readonly Portion[],
    desktop: Desktop,
    caller: Caller,
  ): Promise<void> {
    const items = openItems(desktop, caller);
    for (const { payload, keys } of portions) {
      const [key = null] = keys ?? [];
      const event: HookEvent = { caller, items, payload, keys, key };
      for (const hook of called) await callHook(hook, event, patience);
    }
  }

  /** Runs a write and its hooks in a scene. `judged` is what was made of the body as it was sent. */
  async function writeIn(scene: Scene, ask: Ask, depth: number, judged?: Job): Promise<Written> {
    const desk = open(ask.request);
    if (!waits(desk, ask)) return write(scene, ask, await prepareAsk(desk, ask, ask.body));
    if (depth > mostDepth)
      throw new Error(`Hooks of "${ask.request.collection}.${ask.action}" call each other forever.`);
    const begun = watchBegun();
    const desktop = desktopIn(scene, begun, depth, ask.request.sender);
    const call = async (called: readonly RegisteredHook[], portions: readonly Portion[]): Promise<void> => {
      await callAll(called, portions, desktop, ask.request.caller);
      await begun.settle();
    };
    const running = runningIn(scene, ask);
    const target = await openTarget(desk, ask, running, judged);
    for (const portion of target.portions) await call(hooksFor(ask, portion.action).before, [portion]);
    const body = await hookTree({ desk, target, hooks, running, call }, target.bodyOf(target.portions));
    const below = watchTree({ desk, hooks, call });
    const done = await write(scene, ask, await target.prepare(body), below);
    const top = target.written(body, done.keys);
    const all = [
      ...top.map((portion) => ({ hooks: hooksFor(ask, portion.action), portions: [portion] })),
      ...below.done,
    ];
    for (const event of all) await call(event.hooks.after, event.portions);
    scene.committed.push(() => afterCommit(all, ask));
    return done;
  }

  async function write(
    scene: Scene,
    { request }: Ask,
    job: Job,
    below?: ReturnType<typeof watchTree>,
  ): Promise<Written> {
    scene.touched.push(...job.touched());
    if (job.overtaken !== undefined) scene.overtaken.push(job.overtaken);
    return performer.write(scene.transaction, request, job, below?.watcher);
  }

  function runningIn({ transaction }: Scene, { request }: Ask): Running {
    // It only looks.
    const { caller, sender } = request;
    return { transaction, caller, sender, dialect: sqlDialects[api.dialect], gate, history: null, wardens: new Map() };
  }

  function desktopIn(scene: Scene, begun: Begun, depth: number, sender: Sender): Desktop {
    return {
      sender,
      read: (...asked) =>
        readWith((statement, parameters, sink) => scene.transaction.run(statement, parameters, sink), ...asked),
      write: (ask) => begun.follow(writeNested(scene, ask, depth + 1)),
    };
  }

  async function writeNested(scene: Scene, ask: Ask, depth: number): Promise<Keys | null> {
    try {
      return (await writeIn(scene, ask, depth)).keys;
    } catch (error) {
      throw tellViolation(error, scene.touched);
    }
  }

  async function afterCommit(done: readonly DoneBelow[], { request }: Ask): Promise<void> {
    const desktop = outside(request.sender);
    for (const { hooks: eventHooks, portions } of done) {
      for (const portion of portions) {
        for (const hook of eventHooks.afterCommit) {
          const called = callAll([hook], [portion], desktop, request.caller);
          await called.catch((thrown: unknown) => complain(hook.event, thrown));
        }
      }
    }
  }

  /** Every read and write on its own. */
  function outside(sender: Sender): Desktop {
    return {
      sender,
      read: (...asked) => readWith((...statement) => database.read(...statement), ...asked),
      write: async (ask) => (await runAlone(inScenes((scene) => writeIn(scene, ask, 1)))).keys,
    };
  }

  function transactionFor(caller: Caller, sender: Sender): RunInTransaction {
    return (work) =>
      runAlone(
        inScenes(async (scene) => {
          const begun = watchBegun();
          const items = openItems(desktopIn(scene, begun, 0, sender), caller);
          const value = await inTime(work(items), patience, 'The transaction of a route');
          await begun.settle();
          return value;
        }),
      );
  }

  return {
    waitFor: (ask) => waits(open(ask.request), ask),
    async workOf(ask) {
      const desk = open(ask.request);
      const judged = await judge(() => prepareAsk(desk, ask, ask.body));
      return inScenes(async (scene) => {
        await judgeStored(desk, ask, runningIn(scene, ask), performer);
        return writeIn(scene, ask, 0, judged);
      }, judged);
    },
    openFor: (caller, sender) => ({
      items: openItems(outside(sender), caller),
      transaction: transactionFor(caller, sender),
    }),
    settled,
  };
}
