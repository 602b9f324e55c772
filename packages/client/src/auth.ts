/** Signing in and out. Source: API specification, sections 2 and 15. */
import type { RequestOptions } from './call.ts';
import type { Requester } from './requester.ts';
import type { AuthTokens, Credentials, Session } from './session.ts';

/** Forgotten passwords. */
export interface PasswordHandler {
  /** Mails a link, which leads to `resetUrl` when the server's list allows that address. Says nothing of who exists. */
  request(email: string, resetUrl?: string, options?: RequestOptions): Promise<void>;
  /** Takes the token of the link. */
  reset(token: string, password: string, options?: RequestOptions): Promise<void>;
}

/** The session of this client. */
export interface AuthHandler {
  login(credentials: Credentials): Promise<AuthTokens>;
  /** Uses a program's token from now on. It is not kept in the storage, and nothing is asked of the server. */
  static(token: string): Promise<void>;
  /** Gets another access token now; calls at the same time share one request. */
  refresh(): Promise<AuthTokens>;
  /** Ends the session, or with `all` every session of the user. Without a session it only drops a static token. */
  logout(options?: { readonly all?: boolean }): Promise<void>;
  readonly password: PasswordHandler;
  /** The token of the next request, refreshed when it ends soon; null: there is none. */
  readonly token: Promise<string | null>;
}

/** Makes the handler of a session. */
export function createAuthHandler(requester: Requester, session: Session): AuthHandler {
  const post = (name: string, body: object, options: RequestOptions | undefined): Promise<void> =>
    requester.nothing({ method: 'POST', path: ['auth', 'password', name], body, options, isAnonymous: true });
  return {
    login: (credentials) => session.login(credentials),
    static: async (token) => session.fix(token),
    refresh: () => session.refresh(),
    logout: (options = {}) => session.logout(options),
    password: {
      request: (email, resetUrl, options) => post('request', { email, reset_url: resetUrl }, options),
      reset: (token, password, options) => post('reset', { token, password }, options),
    },
    get token() {
      return session.token();
    },
  };
}
