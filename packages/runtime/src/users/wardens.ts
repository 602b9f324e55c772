import type { Caller } from '../caller.ts';
import type { CompiledApi } from '../contract/index.ts';
import type { Transaction } from '../database/database.ts';
import { bothWardens, createModelWarden, type ModelChanges } from '../resources/model-warden.ts';
import { systemPlaceOf } from '../system/place.ts';
import type { Warden, Wardens } from '../write/warden.ts';
import { createRoleWarden } from './role-warden.ts';
import { createUserWarden } from './user-warden.ts';

/** The wardens of an API; none where the platform's own tables are not installed. */
export function createWardens(api: CompiledApi, model: ModelChanges): Wardens {
  const location = systemPlaceOf(api);
  if (location === null) return new Map();
  const admins = new Set(api.access.flatMap(({ name, admin }) => (admin ? [name] : [])));
  const isAdmin = ({ accessClass }: Caller): boolean => admins.has(accessClass);
  return new Map([
    ['platform_users', createUserWarden(location, isAdmin)],
    ['platform_roles', bothWardens(createModelWarden(model, 'platform_roles'), createRoleWarden(location))],
  ]);
}

/** The same wardens, with every transaction noted in which one of them watches. */
export function noteTransactions(wardens: Wardens, note: (transaction: Transaction) => void): Wardens {
  return new Map(
    [...wardens].map(([collection, warden]) => [
      collection,
      {
        watch(running, step) {
          note(running.transaction);
          return warden.watch(running, step);
        },
      } satisfies Warden,
    ]),
  );
}
