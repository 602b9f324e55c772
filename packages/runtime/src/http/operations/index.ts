/** All operations of a server with their implementations. */
import type { Accounts } from '../../auth/accounts.ts';
import { createInvite } from '../../auth/invites.ts';
import type { Database } from '../../database/database.ts';
import type { Environment } from '../../environment.ts';
import { resources } from '../../language/operations/index.ts';
import type { SystemPlace } from '../../system/place.ts';
import { createAnswerKeeper } from '../../write/idempotency.ts';
import { createKeyedOnce } from '../../write/keyed-once.ts';
import { authOperations, passwordOperations } from './auth.ts';
import { type Bind, type BoundOperation, createBind } from './bind.ts';
import { type ServerOptions, serverOperations } from './server.ts';
import { ownUserOperations, userOperations } from './users.ts';
import { type UtilOptions, utilOperations } from './utils.ts';

/** Parts of a server that operations use. */
export interface OperationsOptions extends UtilOptions, ServerOptions {
  readonly database: Database;
  readonly environment: Environment;
  /** Null where the platform's own tables are not installed. */
  readonly accounts: Accounts<unknown> | null;
  readonly system: SystemPlace | null;
}

/** Makes the operations callable. */
export function bindOperations(options: OperationsOptions): readonly BoundOperation[] {
  const { api, environment, accounts, system } = options;
  const administrators = new Set(api.access.filter(({ admin }) => admin).map(({ name }) => name));
  const bind = createBind(({ accessClass }) => administrators.has(accessClass), environment.auth.loginStallTime);
  return [
    ...bind(resources.server, serverOperations(options)),
    ...bind(resources.utils, utilOperations(options)),
    ...(accounts === null || system === null ? [] : bindAccounts(bind, options, accounts, system)),
  ];
}

function bindAccounts(
  bind: Bind,
  options: OperationsOptions,
  accounts: Accounts<unknown>,
  system: SystemPlace,
): readonly BoundOperation[] {
  const { database, environment } = options;
  const invite = createInvite({ ...options, place: system, environment: environment.mail.invite });
  const keyed = createKeyedOnce(database, createAnswerKeeper(system, environment.idempotencyTtl));
  return [
    ...bind(resources.ownUser, ownUserOperations(database, system)),
    ...bind(resources.auth, authOperations(accounts, environment)),
    ...bind(resources.passwords, passwordOperations(accounts, environment)),
    ...bind(resources.users, userOperations(accounts, invite, keyed, environment)),
  ];
}
