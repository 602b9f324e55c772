/** Signing in and out. Source: API specification, sections 2 and 15. */
import type { OperationMethods } from './operations.ts';
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
