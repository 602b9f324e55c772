/** Writes for which code of the project waits: `before`, the write itself, `after`, all in one transaction. */
import { isDeepStrictEqual } from 'node:util';
import type { Caller } from '../caller.ts';
import type { CompiledApi, HookEvent, JsonValue, RegisteredHook } from '../contract/index.ts';
import type { Database, Transaction } from '../database/database.ts';
import { PlatformError } from '../errors.ts';
import { callHook, gatherHooks, inTime } from '../extensions/hooks.ts';
import { createItems, type Desktop } from '../extensions/items.ts';
import { type Begun, openScene, type Scene, watchBegun } from '../extensions/scene.ts';
import { createAnswerWriter } from '../json/answer.ts';
import type { PlannedRead, Planner } from '../query/planner.ts';
import {
  type Ask,
  bodyOf,
  entriesOf,
  guardOfAsk,
  type Portion,
  portionsOf,
  prepareAsk,
  writtenPortions,
} from './ask.ts';
import { type DoneBelow, hookTree, reachesHooks, watchTree } from './hook-tree.ts';
import { type Desk, type Job, type Sender, type WriteRequest, writableOf } from './job.ts';
import type { Keys } from './keys.ts';
import type { Performer, Work, Written } from './perform.ts';
import type { Running } from './step.ts';
import { judgeTree } from './tree/prepare-tree.ts';
import { mayHaveConflict, parseConflict } from './upsert/conflict.ts';
import { tellViolation } from './violation.ts';

/** What writing with hooks needs: the same as writing without, and what runs jobs. */
export interface HookedWriterOptions {
  readonly api: CompiledApi;
  readonly database: Pick<Database, 'transaction' | 'read'>;
  readonly gate: (statement: string) => void;
  readonly planner: Planner;
  /** Milliseconds that one hook may take. */
  readonly patience: number;
  /** Takes what hooks throw when nobody can be answered any more. */
  readonly complain: (event: string, thrown: unknown) => void;
  readonly open: (request: WriteRequest) => Desk;
  readonly performer: Pick<Performer, 'checkGuard' | 'write'>;
}

/** The writer of requests that hooks wait for. */
export interface HookedWriter {
  /** Whether any hook waits for a write. */
  waitFor(ask: Ask): boolean;
  /** Judges what was sent, and gives what is left to do. Throws as preparing a write does. */
  workOf(ask: Ask): Promise<Work>;
  /** What code of a project that no write waits for reads and writes with. */
  openFor(caller: Caller, sender: Sender): { readonly items: unknown; readonly transaction: RunInTransaction };
  /** Resolves when no hook runs any more that waited for a COMMIT. */
  settled(): Promise<void>;
}

/** Runs a function whose reads and writes are one transaction, again from the start when the transaction is. */
export type RunInTransaction = <T>(work: (items: unknown) => T | Promise<T>) => Promise<T>;

/** Hooks that write what hooks wait for: beyond this it is a circle. */
const mostDepth = 8;

/** Makes the writer. Throws for hooks of events that the API has not. */
export function createHookedWriter(options: HookedWriterOptions): HookedWriter {
  const { api, database, gate, planner, patience, complain, open, performer } = options;
  const hooks = gatherHooks(api);
  const openItems = createItems(api);
  const running = new Set<Promise<void>>();

  const hooksFor = ({ action, request }: Ask) => hooks.of(`${request.collection}.${action}`);
  const waits = (desk: Desk, ask: Ask) => hooksFor(ask) !== undefined || reachesHooks(desk, ask, hooks);

  async function callAll(
    called: readonly RegisteredHook[],
    portions: readonly Portion[],
    desktop: Desktop,
    caller: Caller,
  ): Promise<void> {
    const items = openItems(desktop, caller);
    for (const { payload, keys } of portions) {
      const [key = null] = keys ?? [];
      const given: HookEvent = { caller, items, payload, keys, key };
      for (const hook of called) await callHook(hook, given, patience);
    }
  }

  /** Runs a write and its hooks in a scene. `judged` is what was made of the body as it was sent. */
  async function writeIn(scene: Scene, ask: Ask, depth: number, judged?: Job): Promise<Written> {
    const desk = open(ask.request);
    if (!waits(desk, ask)) return write(scene, ask, await prepareAsk(desk, ask, ask.body));
    if (depth > mostDepth)
      throw new Error(`Hooks of "${ask.request.collection}.${ask.action}" call each other forever.`);
    const own = hooksFor(ask) ?? { before: [], after: [], afterCommit: [] };
    const begun = watchBegun();
    const desktop = desktopIn(scene, begun, depth, ask.request.sender);
    const call = async (called: readonly RegisteredHook[], portions: readonly Portion[]): Promise<void> => {
      await callAll(called, portions, desktop, ask.request.caller);
      await begun.settle();
    };
    const portions = portionsOf(desk, ask);
    await call(own.before, portions);
    const body = await hookTree({ desk, ask, hooks, running: runningIn(scene, ask), call }, bodyOf(ask, portions));
    const same = judged !== undefined && isDeepStrictEqual(body, bodyOf(ask, portionsOf(desk, ask)));
    const below = watchTree({ desk, hooks, call });
    const done = await write(scene, ask, same ? judged : await prepareAsk(desk, ask, body), below);
    const top = { hooks: own, portions: writtenPortions(desk, portionsOf(desk, { ...ask, body }), done.keys) };
    const all = [top, ...below.done];
    for (const one of all) await call(one.hooks.after, one.portions);
    scene.committed.push(() => afterCommit(all, ask));
    return done;
  }

  async function write(
    scene: Scene,
    { request }: Ask,
    job: Job,
    below?: ReturnType<typeof watchTree>,
  ): Promise<Written> {
    scene.touched.push(...job.touched);
    return performer.write(scene.transaction, request, job, below?.watcher);
  }

  function runningIn({ transaction }: Scene, { request }: Ask): Running {
    // It only looks.
    return { transaction, caller: request.caller, gate, history: null, wardens: new Map() };
  }

  function desktopIn(scene: Scene, begun: Begun, depth: number, sender: Sender): Desktop {
    return {
      sender,
      read: (...asked) => readWith((...statement) => scene.transaction.run(...statement), ...asked),
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

  async function readWith(
    run: Database['read'],
    caller: Caller,
    collection: string,
    query: JsonValue,
  ): Promise<JsonValue> {
    const planned = planner.search(caller, { name: collection }, { query });
    gate(planned.plan.statement.text);
    return runRead(run, planned);
  }

  /** A write that runs in a scene of its own for each transaction. */
  function inScenes<T>(run: (scene: Scene) => Promise<T>, judged?: Job): Work<T> {
    let latest: Scene | undefined;
    return {
      async run(transaction) {
        const scene = openScene(transaction);
        latest = scene;
        try {
          return await run(scene);
        } finally {
          scene.close();
        }
      },
      touched: () => latest?.touched ?? judged?.touched ?? [],
      committed() {
        for (const hook of latest?.committed ?? []) start(hook);
      },
    };
  }

  function start(hook: () => Promise<void>): void {
    const run = hook().finally(() => running.delete(run));
    running.add(run);
  }

  async function afterCommit(done: readonly DoneBelow[], { request }: Ask): Promise<void> {
    const desktop = outside(request.sender);
    for (const { hooks: own, portions } of done) {
      for (const portion of portions) {
        for (const hook of own.afterCommit) {
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

  async function runAlone<T>(work: Work<T>): Promise<T> {
    try {
      const run = async (transaction: Transaction) => ({ value: await work.run(transaction) });
      const value = await database.transaction(run);
      work.committed();
      return value;
    } catch (error) {
      throw tellViolation(error, work.touched());
    }
  }

  /** Judges what only the database knows of a request before hooks run: the item's entity tag, and which items there are. */
  async function judgeStored(scene: Scene, ask: Ask): Promise<void> {
    const desk = open(ask.request);
    const guard = guardOfAsk(desk, ask);
    if (guard !== undefined) await performer.checkGuard(scene.transaction, guard);
    const entries = ask.singleton === true ? null : entriesOf(desk, ask, ask.body);
    if (entries === null) return;
    await judge(() => judgeTree(desk, writableOf(desk), entries, runningIn(scene, ask)));
  }

  return {
    waitFor: (ask) => waits(open(ask.request), ask),
    async workOf(ask) {
      refuseUpsert(open(ask.request), ask);
      const judged = await judge(() => prepareAsk(open(ask.request), ask, ask.body));
      return inScenes(async (scene) => {
        await judgeStored(scene, ask);
        return writeIn(scene, ask, 0, judged);
      }, judged);
    },
    openFor: (caller, sender) => ({
      items: openItems(outside(sender), caller),
      transaction: transactionFor(caller, sender),
    }),
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Which hooks an upsert concerns is known only when its items have been looked for. */
function refuseUpsert({ query, limits }: Desk, { action }: Ask): void {
  if (action !== 'create' || !mayHaveConflict(query) || parseConflict(query, limits) === null) return;
  throw new PlatformError('UNPROCESSABLE_ENTITY', 'Items that hooks wait for cannot be written by "on_conflict".');
}

/** Judges before any hook runs; undefined where only values are wrong, which hooks may still make valid. */
async function judge<T>(judging: () => Promise<T>): Promise<T | undefined> {
  try {
    return await judging();
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'FAILED_VALIDATION') return undefined;
    throw error;
  }
}

async function runRead(run: Database['read'], { plan, parameters, size }: PlannedRead): Promise<JsonValue> {
  const rows = createAnswerWriter(plan)(size);
  await run(plan.statement, parameters, rows);
  const answer: { readonly data: JsonValue } = JSON.parse(rows.end().toString('utf8'));
  return answer.data;
}
