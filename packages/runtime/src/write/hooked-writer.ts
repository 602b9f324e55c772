/** Writes for which code of the project waits: `before`, the write itself, `after`, all in one transaction. */
import type { Caller } from '../caller.ts';
import type { CompiledApi, HookEvent, JsonValue, RegisteredHook } from '../contract/index.ts';
import type { Database, Outcome } from '../database/database.ts';
import { PlatformError } from '../errors.ts';
import { callHook, type EventHooks, gatherHooks } from '../extensions/hooks.ts';
import { createItems, type Desktop } from '../extensions/items.ts';
import { type Begun, openScene, type Scene, watchBegun } from '../extensions/scene.ts';

import { createAnswerWriter } from '../json/answer.ts';
import type { PlannedRead, Planner } from '../query/planner.ts';
import { type Ask, bodyOf, type Portion, portionsOf, prepareAsk, writtenPortions } from './ask.ts';
import type { Desk, Job, WriteRequest } from './job.ts';
import type { Keys } from './keys.ts';
import { tellViolation } from './violation.ts';

/** What writing with hooks needs; the same as writing without, and what ends a request's transaction. */
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
  readonly finish: (job: Job, keys: Keys | null) => Outcome<() => Buffer | null>;
}

/** The writer of requests that hooks wait for. */
export interface HookedWriter {
  /** Whether any hook waits for a write. */
  waitFor(ask: Ask): boolean;
  /** The bytes of the answer, as `Writer` gives them. */
  perform(ask: Ask): Promise<Buffer | null>;
  /** Resolves when no hook runs any more that waited for a COMMIT. */
  settled(): Promise<void>;
}

/** Hooks that write what hooks wait for: beyond this it is a circle. */
const mostDepth = 8;

/** A write that ran in a scene. */
interface Done {
  readonly job: Job;
  readonly keys: Keys | null;
}

/** Makes the writer. Throws for hooks of events that the API has not. */
export function createHookedWriter(options: HookedWriterOptions): HookedWriter {
  const { api, database, gate, planner, patience, complain, open, finish } = options;
  const hooksOf = gatherHooks(api);
  const openItems = createItems(api);
  const running = new Set<Promise<void>>();

  const hooksFor = ({ action, request }: Ask) => hooksOf(`${request.collection}.${action}`);

  async function callAll(
    hooks: readonly RegisteredHook[],
    { payload, keys }: Portion,
    desktop: Desktop,
    ask: Ask,
  ): Promise<void> {
    const { caller } = ask.request;
    const [key = null] = keys ?? [];
    const given: HookEvent = { caller, items: openItems(desktop, caller), payload, keys, key };
    for (const hook of hooks) await callHook(hook, given, patience);
  }

  /** Runs a write and its hooks in a scene. */
  async function writeIn(scene: Scene, ask: Ask, depth: number): Promise<Done> {
    const desk = open(ask.request);
    const hooks = hooksFor(ask);
    if (hooks === undefined) return runJob(scene, await prepareAsk(desk, ask, ask.body), ask);
    if (depth > mostDepth)
      throw new Error(`Hooks of "${ask.request.collection}.${ask.action}" call each other forever.`);
    const begun = watchBegun();
    const desktop = desktopIn(scene, begun, depth);
    const portions = portionsOf(desk, ask);
    for (const portion of portions) await callAll(hooks.before, portion, desktop, ask);
    await begun.settle();
    const done = await runJob(scene, await prepareAsk(desk, ask, bodyOf(ask, portions)), ask);
    const written = writtenPortions(desk, portions, done.keys);
    for (const portion of written) await callAll(hooks.after, portion, desktop, ask);
    await begun.settle();
    scene.committed.push(() => afterCommit(hooks, written, ask));
    return done;
  }

  async function runJob(scene: Scene, job: Job, { request }: Ask): Promise<Done> {
    scene.touched.push(...job.touched);
    const { transaction } = scene;
    return { job, keys: await job.work({ transaction, caller: request.caller, gate }) };
  }

  function desktopIn(scene: Scene, begun: Begun, depth: number): Desktop {
    return {
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

  /** Runs a function in a transaction with a scene, and what waits for its COMMIT. */
  async function inScene<T>(work: (scene: Scene) => Promise<Outcome<T>>): Promise<T> {
    let latest: Scene | undefined;
    try {
      const value = await database.transaction(async (transaction) => {
        const scene = openScene(transaction);
        latest = scene;
        try {
          return await work(scene);
        } finally {
          scene.close();
        }
      });
      for (const hook of latest?.committed ?? []) start(hook);
      return value;
    } catch (error) {
      throw tellViolation(error, latest?.touched ?? []);
    }
  }

  function start(hook: () => Promise<void>): void {
    const run = hook().finally(() => running.delete(run));
    running.add(run);
  }

  async function afterCommit(hooks: EventHooks, portions: readonly Portion[], ask: Ask): Promise<void> {
    for (const portion of portions) {
      for (const hook of hooks.afterCommit) {
        await callAll([hook], portion, outside, ask).catch((thrown: unknown) => complain(hook.event, thrown));
      }
    }
  }

  /** Every read and write on its own. */
  const outside: Desktop = {
    read: (...asked) => readWith((...statement) => database.read(...statement), ...asked),
    write: (ask) => inScene(async (scene) => ({ value: (await writeIn(scene, ask, 1)).keys })),
  };

  return {
    waitFor: (ask) => hooksFor(ask) !== undefined,
    async perform(ask) {
      await judgeSent(open(ask.request), ask);
      const answer = await inScene(async (scene) => {
        const { job, keys } = await writeIn(scene, ask, 0);
        return finish(job, keys);
      });
      return answer();
    },
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Judges what was sent before any hook sees it; only what hooks may still make valid waits for them. */
async function judgeSent(desk: Desk, ask: Ask): Promise<void> {
  try {
    await prepareAsk(desk, ask, ask.body);
  } catch (error) {
    if (!(error instanceof PlatformError) || error.code !== 'FAILED_VALIDATION') throw error;
  }
}

async function runRead(run: Database['read'], { plan, parameters, size }: PlannedRead): Promise<JsonValue> {
  const rows = createAnswerWriter(plan)(size);
  await run(plan.statement, parameters, rows);
  const answer: { readonly data: JsonValue } = JSON.parse(rows.end().toString('utf8'));
  return answer.data;
}
