/** The addresses of passwords by mail and of second factors. All are asked by POST. */
import type { IncomingMessage } from 'node:http';
import type { Accounts } from '../auth/accounts.ts';
import type { Invite } from '../auth/invites.ts';
import type { Database } from '../database/database.ts';
import type { Environment } from '../environment.ts';
import type { CompiledApi } from '../language/index.ts';
import { systemPlaceOf } from '../system/place.ts';
import { createAnswerKeeper } from '../write/idempotency.ts';
import { createKeyedOnce } from '../write/keyed-once.ts';
import type { RequestOrigin } from '../write/write-plan.ts';
import type { Answerer } from './answer.ts';
import type { FindClientAddress } from './client-address.ts';
import { createPasswordHandlers, type PasswordHandlers } from './password-routes.ts';
import { createTfaHandlers, disableForPath } from './tfa-routes.ts';

/** Options of the account endpoints. */
export interface AccountEndpointsOptions {
  readonly api: CompiledApi;
  readonly accounts: Accounts<unknown>;
  readonly invite: Invite;
  readonly database: Pick<Database, 'transaction' | 'briefTransaction'>;
  readonly answerer: Answerer;
  readonly environment: Environment;
  readonly clientAddress: FindClientAddress;
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
}

/** An address and the handler of its POST. */
export interface PostEndpoint {
  readonly url: string;
  readonly post: PasswordHandlers['request'];
}

/** Makes the endpoints. */
export function createAccountEndpoints(options: AccountEndpointsOptions): readonly PostEndpoint[] {
  const { api, accounts, database, environment } = options;
  const systemPlace = systemPlaceOf(api);
  const keeper = systemPlace === null ? null : createAnswerKeeper(systemPlace, environment.idempotencyTtl);
  const passwords = createPasswordHandlers({ ...options, keyed: createKeyedOnce(database, keeper) });
  const administrators = new Set(api.access.filter(({ admin }) => admin).map(({ name }) => name));
  const tfa = createTfaHandlers({
    ...options,
    secondFactors: accounts.secondFactors,
    isAdmin: ({ accessClass }) => administrators.has(accessClass),
  });
  return [
    { url: '/auth/password/request', post: passwords.request },
    { url: '/auth/password/reset', post: passwords.reset },
    { url: '/users/invite', post: passwords.invite },
    { url: '/users/invite/accept', post: passwords.accept },
    { url: '/users/me/tfa/generate', post: tfa.generate },
    { url: '/users/me/tfa/enable', post: tfa.enable },
    { url: '/users/me/tfa/disable', post: tfa.disable },
    { url: '/users/me/tfa/recovery-codes', post: tfa.recoveryCodes },
    { url: disableForPath, post: tfa.disableFor },
  ];
}
