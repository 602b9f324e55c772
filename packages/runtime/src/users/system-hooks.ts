import type { Caller } from '../caller.ts';
import type { Transaction } from '../database/database.ts';
import type { CompiledApi } from '../language/index.ts';
import type { ModelChanges } from '../model/model-changes.ts';
import { systemPlaceOf } from '../system/place.ts';
import type { SystemHook, SystemHooks } from '../write/execute/running.ts';
import { bothHooks, createModelHook } from './model-hook.ts';
import { createRoleHook } from './role-hook.ts';
import { createUserHook } from './user-hook.ts';

/** The systemHooks of an API; none where the platform's own tables are not installed. */
export function createSystemHooks(api: CompiledApi, model: ModelChanges): SystemHooks {
  const location = systemPlaceOf(api);
  if (location === null) return new Map();
  const admins = new Set(api.access.flatMap(({ name, admin }) => (admin ? [name] : [])));
  const isAdmin = ({ accessClass }: Caller): boolean => admins.has(accessClass);
  return new Map([
    ['platform_users', createUserHook(location, isAdmin)],
    ['platform_roles', bothHooks(createModelHook(model, 'platform_roles'), createRoleHook(location))],
  ]);
}

/** The same systemHooks, with every transaction noted in which one of them watches. */
export function noteTransactions(systemHooks: SystemHooks, note: (transaction: Transaction) => void): SystemHooks {
  return new Map(
    [...systemHooks].map(([collection, systemHook]) => [
      collection,
      {
        watch(running, step) {
          note(running.transaction);
          return systemHook.watch(running, step);
        },
      } satisfies SystemHook,
    ]),
  );
}
