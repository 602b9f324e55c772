/** The hooks of a server by what they wait for, and how one is called. */
import type { CompiledApi, HookEvent, RegisteredHook, Stage } from '../contract/index.ts';

/** The hooks of one event, in the order in which they were registered. */
export type EventHooks = Readonly<Record<Stage, readonly RegisteredHook[]>>;

/** Finds the hooks of an event, `articles.create`; undefined when nobody waits for it. */
export type HooksOf = (event: string) => EventHooks | undefined;

/** Gathers the hooks of all extensions. Throws for an event that the API has not: the types were passed by then. */
export function gatherHooks({ extensions = [], routes }: CompiledApi): HooksOf {
  const events = new Set(routes.map(({ collection, operation }) => `${collection.name}.${operation}`));
  const byEvent = new Map<string, Record<Stage, RegisteredHook[]>>();
  for (const hook of extensions.flatMap(({ hooks }) => hooks)) {
    if (!events.has(hook.event)) throw new Error(`An extension waits for "${hook.event}", which there is not.`);
    const known = byEvent.get(hook.event) ?? { before: [], after: [], afterCommit: [] };
    byEvent.set(hook.event, known);
    known[hook.stage].push(hook);
  }
  return (event) => byEvent.get(event);
}

/** Calls a hook and waits for it, so many milliseconds at most; then it rejects, and the hook is left to itself. */
export async function callHook(
  { stage, event, run }: RegisteredHook,
  given: HookEvent,
  patience: number,
): Promise<void> {
  const running = run(given);
  if (!(running instanceof Promise)) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `The hook ${stage}('${event}') took longer than ${patience} ms.`;
    timer = setTimeout(() => reject(new Error(message)), patience);
  });
  await Promise.race([running, late]).finally(() => clearTimeout(timer));
}
