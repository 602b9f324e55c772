/** Users beyond what every collection has. Source: API specification, sections 3 and 15. */
import type { RequestOptions } from './call.ts';
import { createItemHandler, createSingletonHandler, type ItemHandler, type SingletonHandler } from './items.ts';
import type { Requester } from './requester.ts';

/** Secret for an authenticator app. */
export interface TfaSecret {
  readonly secret: string;
  /** As a QR code shows it. */
  readonly otpauth_url: string;
}

/** The second factor of who is signed in. */
export interface TfaHandler {
  generate(password: string, options?: RequestOptions): Promise<TfaSecret>;
  /** Takes the secret of `generate` and a one-time password made with it. */
  enable(secret: string, otp: string, options?: RequestOptions): Promise<void>;
  disable(otp: string, options?: RequestOptions): Promise<void>;
}

/** Invitations by mail. */
export interface InvitesHandler {
  /** The mail leads to `inviteUrl` when the server's list allows that address. */
  send(email: string | readonly string[], role: string, inviteUrl?: string, options?: RequestOptions): Promise<void>;
  accept(token: string, password: string, options?: RequestOptions): Promise<void>;
}

/** Users. */
export interface UsersHandler<User> extends ItemHandler<User> {
  /** The signed-in user. */
  readonly me: SingletonHandler<User> & { readonly tfa: TfaHandler };
  readonly invites: InvitesHandler;
  /** The same as `me.tfa`. */
  readonly tfa: TfaHandler;
}

/** Makes the handler of users. */
export function createUsersHandler<User>(requester: Requester): UsersHandler<User> {
  const { data, nothing } = requester;
  const me = ['users', 'me'];
  const tfa: TfaHandler = {
    generate: (password, options) =>
      data({ method: 'POST', path: [...me, 'tfa', 'generate'], body: { password }, options }),
    enable: (secret, otp, options) =>
      nothing({ method: 'POST', path: [...me, 'tfa', 'enable'], body: { secret, otp }, options }),
    disable: (otp, options) => nothing({ method: 'POST', path: [...me, 'tfa', 'disable'], body: { otp }, options }),
  };
  return {
    ...createItemHandler<User>(requester, ['users']),
    me: { ...createSingletonHandler<User>(requester, me), tfa },
    tfa,
    invites: {
      send: (email, role, inviteUrl, options) =>
        nothing({ method: 'POST', path: ['users', 'invite'], body: { email, role, invite_url: inviteUrl }, options }),
      accept: (token, password, options) => {
        const path = ['users', 'invite', 'accept'];
        return nothing({ method: 'POST', path, body: { token, password }, options, isAnonymous: true });
      },
    },
  };
}
