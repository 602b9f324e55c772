/** Effects of writing roles and rules if the API is compiled from them. Source: API specification, section 12.4. */

import { PlatformError } from '../errors.ts';
import type { ModelChanges, ModelCollection } from '../model/model-changes.ts';
import type { SystemHook } from '../write/execute/running.ts';

/** Makes the systemHook of one of the collections. */
export function createModelHook(changes: ModelChanges, collection: ModelCollection): SystemHook {
  return {
    async watch({ transaction }) {
      const refusal = changes.refusalOf(collection);
      if (refusal !== null) throw new PlatformError('UNPROCESSABLE_ENTITY', refusal);
      await changes.begin(transaction);
      return () => changes.compile(transaction, collection);
    },
  };
}

/** A hook that runs both, the first one first. */
export function bothHooks(first: SystemHook, second: SystemHook): SystemHook {
  return {
    async watch(running, step) {
      const after = await first.watch(running, step);
      const last = await second.watch(running, step);
      return async (keys) => {
        await after?.(keys);
        await last?.(keys);
      };
    },
  };
}
