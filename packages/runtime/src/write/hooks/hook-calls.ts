/** Calls of hooks, one after the other. */
import type { Caller } from '../../caller.ts';
import { callHook } from '../../extensions/hooks.ts';
import type { HookEvent, RegisteredHook } from '../../language/index.ts';
import type { HookPayload } from '../write-command.ts';
import type { DoneBelow } from './hook-tree.ts';
import type { createItems, HookItemsContext } from './items.ts';

/** Functions that call hooks. */
export interface HookCalls {
  /** Calls all of them for each payload. Rejects with the first error. */
  callAll(
    called: readonly RegisteredHook[],
    hookPayloads: readonly HookPayload[],
    itemsContext: HookItemsContext,
    caller: Caller,
  ): Promise<void>;
  /** Calls the hooks that wait for a COMMIT; their errors are reported. Never rejects. */
  callAfterCommit(done: readonly DoneBelow[], itemsContext: HookItemsContext, caller: Caller): Promise<void>;
}

/** Makes calls of at most `timeoutMs`. */
export function createHookCalls(
  openItems: ReturnType<typeof createItems>,
  timeoutMs: number,
  reportError: (event: string, thrown: unknown) => void,
): HookCalls {
  const calls: HookCalls = {
    async callAll(called, hookPayloads, itemsContext, caller) {
      const items = openItems(itemsContext, caller);
      for (const { payload, keys } of hookPayloads) {
        const [key = null] = keys ?? [];
        const event: HookEvent = { caller, items, payload, keys, key };
        for (const hook of called) await callHook(hook, event, timeoutMs);
      }
    },
    async callAfterCommit(done, itemsContext, caller) {
      for (const { hooks, payloads } of done) {
        for (const hookPayload of payloads) {
          for (const hook of hooks.afterCommit) {
            const called = calls.callAll([hook], [hookPayload], itemsContext, caller);
            await called.catch((thrown: unknown) => reportError(hook.event, thrown));
          }
        }
      }
    },
  };
  return calls;
}
