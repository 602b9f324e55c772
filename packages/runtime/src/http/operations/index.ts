/** All operations of a server with their implementations. */
import type { Accounts } from '../../auth/accounts.ts';
import { createInvite, type InviteOptions } from '../../auth/invites.ts';
import type { Database } from '../../database/database.ts';
import type { Environment } from '../../environment.ts';
import type { CompiledApi } from '../../language/index.ts';
import { resources } from '../../language/operations/index.ts';
import type { SystemPlace } from '../../system/place.ts';
import { createAnswerKeeper } from '../../write/idempotency.ts';
import { createKeyedOnce } from '../../write/keyed-once.ts';
import { authOperations, passwordOperations } from './auth.ts';
import { type BoundOperation, createBind } from './bind.ts';
import { userOperations } from './users.ts';

/** Parts of a server that operations use. */
export interface OperationsOptions extends Pick<InviteOptions, 'planner' | 'writer'> {
  readonly api: CompiledApi;
  readonly database: Database;
  readonly environment: Environment;
  readonly accounts: Accounts<unknown>;
  readonly system: SystemPlace;
}

/** Makes the operations callable. */
export function bindOperations(options: OperationsOptions): readonly BoundOperation[] {
  const { api, database, environment, accounts, system } = options;
  const administrators = new Set(api.access.filter(({ admin }) => admin).map(({ name }) => name));
  const bind = createBind(({ accessClass }) => administrators.has(accessClass), environment.auth.loginStallTime);
  const keyed = createKeyedOnce(database, createAnswerKeeper(system, environment.idempotencyTtl));
  const invite = createInvite({ ...options, place: system, environment: environment.mail.invite });
  return [
    ...bind(resources.auth, authOperations(accounts, environment)),
    ...bind(resources.passwords, passwordOperations(accounts, environment)),
    ...bind(resources.users, userOperations(accounts, invite, keyed, environment)),
  ];
}
