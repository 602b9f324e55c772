import type { Caller } from '../caller.ts';
import type { CompiledApi } from '../contract/index.ts';
import type { Database, Transaction } from '../database/database.ts';
import { systemSchemaOf } from '../system/schema.ts';
import type { Warden, Wardens } from '../write/warden.ts';
import { createRoleWarden } from './role-warden.ts';
import { createUserWarden } from './user-warden.ts';

/** What writes with, where wardens watch. */
export interface Watched<D> {
  /** None where the platform's own tables are not installed. */
  readonly wardens: Wardens;
  /** The database, which tells of transactions with watched steps when they are committed. */
  readonly database: D;
}

/** Sets wardens over users and roles; `changed` is called whenever a transaction that wrote some of them was committed. */
export function watchAccounts<D extends Pick<Database, 'transaction'>>(
  api: CompiledApi,
  database: D,
  changed: () => void,
): Watched<D> {
  const schema = systemSchemaOf(api);
  if (schema === null) return { wardens: new Map(), database };
  const admins = new Set(api.access.flatMap(({ name, admin }) => (admin ? [name] : [])));
  const isAdmin = ({ accessClass }: Caller): boolean => admins.has(accessClass);
  const watched = new WeakSet<Transaction>();
  const noting = ({ watch }: Warden): Warden => ({
    watch(running, step) {
      watched.add(running.transaction);
      return watch(running, step);
    },
  });
  const wardens: Wardens = new Map([
    ['platform_users', noting(createUserWarden(schema, isAdmin))],
    ['platform_roles', noting(createRoleWarden(schema))],
  ]);
  return { wardens, database: { ...database, transaction: telling(database, watched, changed) } };
}

function telling(
  database: Pick<Database, 'transaction'>,
  watched: WeakSet<Transaction>,
  changed: () => void,
): Database['transaction'] {
  return async (work) => {
    let last: Transaction | undefined;
    const value = await database.transaction((transaction) => {
      last = transaction;
      return work(transaction);
    });
    if (last !== undefined && watched.has(last)) changed();
    return value;
  };
}
