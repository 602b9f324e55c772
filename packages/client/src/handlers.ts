/** Handlers of the platform's operations: session, users, activity and server. Source: API specification, sections 2, 3, 10.3 and 15. */

import { type Key, keyText, type RequestOptions } from './call.ts';
import { createItemHandler, createSingletonHandler, type ItemHandler, type SingletonHandler } from './items.ts';
import type { OperationMethods } from './operations.ts';
import type { Requester } from './requester.ts';
import type { AuthTokens, Credentials, Session } from './session.ts';

/** Forgotten passwords. */
export type PasswordHandler = OperationMethods['auth']['password'];

/** The session of this client. */
export interface AuthHandler {
  /**
   * Signs in, and keeps the tokens for the next requests.
   * @example const { access_token } = await client.auth.login({ email: 'ada@example.com', password: 'secret' });
   */
  login(credentials: Credentials): Promise<AuthTokens>;
  /**
   * Uses a program's token from now on. It is not kept in the storage, and nothing is asked of the server.
   * @example await client.auth.static('a-token-of-a-program');
   */
  static(token: string): Promise<void>;
  /**
   * Gets another access token now; calls at the same time share one request.
   * @example const { expires } = await client.auth.refresh();
   */
  refresh(): Promise<AuthTokens>;
  /**
   * Ends the session, or with `all` every session of the user. Without a session it only drops a static token.
   * @example await client.auth.logout({ all: true });
   */
  logout(options?: { readonly all?: boolean }): Promise<void>;
  readonly password: PasswordHandler;
  /** The token of the next request, refreshed when it ends soon; null: there is none. */
  readonly token: Promise<string | null>;
}

/** Makes the handler of a session. */
export function createAuthHandler(session: Session, password: PasswordHandler): AuthHandler {
  return {
    login: (credentials) => session.login(credentials),
    static: async (token) => session.fix(token),
    refresh: () => session.refresh(),
    logout: (options = {}) => session.logout(options),
    password,
    get token() {
      return session.token();
    },
  };
}

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

/** A comment on an item. */
export interface CommentData {
  readonly collection: string;
  /** Its key: a value, the values of several fields in their order, or an object of these fields. */
  readonly item: Key | { readonly [field: string]: unknown };
  readonly comment: string;
}

/** Comments as rows of activity. */
export interface ActivityCommentsHandler<Activity> {
  /**
   * Comments on an item.
   * @example await client.activity.comments.create({ collection: 'articles', item: 1, comment: 'Well done.' });
   */
  create(data: CommentData, options?: RequestOptions): Promise<Activity>;
  /**
   * Takes the key of the activity.
   * @example await client.activity.comments.update(7, 'Very well done.');
   */
  update(id: Key, comment: string, options?: RequestOptions): Promise<Activity>;
  /**
   * Deletes a comment.
   * @example await client.activity.comments.delete(7);
   */
  delete(id: Key, options?: RequestOptions): Promise<void>;
}

/** Activity. */
export interface ActivityHandler<Activity> extends ItemHandler<Activity> {
  readonly comments: ActivityCommentsHandler<Activity>;
}

/** Makes the handler of activity. */
export function createActivityHandler<Activity>(requester: Requester): ActivityHandler<Activity> {
  const { data, nothing } = requester;
  const path = ['activity', 'comment'];
  return {
    ...createItemHandler<Activity>(requester, ['activity']),
    comments: {
      create(comment, options) {
        const { item } = comment;
        const body = { ...comment, item: Array.isArray(item) ? keyText(item) : item };
        return data({ method: 'POST', path, body, options });
      },
      update: (id, comment, options) => data({ method: 'PATCH', path: [...path, id], body: { comment }, options }),
      delete: (id, options) => nothing({ method: 'DELETE', path: [...path, id], options }),
    },
  };
}

/** The server itself; `health` resolves for an unhealthy server too. */
export type ServerHandler = OperationMethods['server'];

/** Health of a server. */
export type Health = Awaited<ReturnType<ServerHandler['health']>>;

/** Utilities. */
export type UtilsHandler = OperationMethods['utils'];
