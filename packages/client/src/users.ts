/** Users beyond what every collection has. Source: API specification, sections 3 and 15. */
import { createItemHandler, createSingletonHandler, type ItemHandler, type SingletonHandler } from './items.ts';
import type { OperationMethods } from './operations.ts';
import type { Requester } from './requester.ts';

/** The second factor of who is signed in. */
export type TfaHandler = OperationMethods['users']['me']['tfa'];

/** Secret for an authenticator app. */
export type TfaSecret = Awaited<ReturnType<TfaHandler['generate']>>;

/** Invitations by mail. */
export type InvitesHandler = OperationMethods['users']['invites'];

/** Users. */
export interface UsersHandler<User> extends ItemHandler<User> {
  /** The signed-in user. */
  readonly me: SingletonHandler<User> & { readonly tfa: TfaHandler };
  readonly invites: InvitesHandler;
  /** The same as `me.tfa`. */
  readonly tfa: TfaHandler;
}

/** Makes the handler of users. */
export function createUsersHandler<User>(
  requester: Requester,
  { me: { tfa }, invites }: OperationMethods['users'],
): UsersHandler<User> {
  return {
    ...createItemHandler<User>(requester, ['users']),
    me: { ...createSingletonHandler<User>(requester, ['users', 'me']), tfa },
    tfa,
    invites,
  };
}
