/**
 * Tokens of a client: the user that they stand for, and their lifetime. Source: API specification, sections 2 and 15.
 */
import type { Key } from './call.ts';
import { PlatformError } from './errors.ts';
import { exclusively } from './exclusively.ts';
import type { AuthMode } from './options.ts';
import type { Send } from './send.ts';
import type { TokenStorage } from './storage.ts';

/** Result of signing in and of refreshing. */
export interface AuthTokens {
  readonly access_token: string;
  /** Milliseconds that the access token lives. */
  readonly expires: number;
  /** Absent in cookie mode. */
  readonly refresh_token?: string;
}

/** Credentials for signing in. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** One-time password, where the user has a second factor. */
  readonly otp?: string;
}

/** Parts of a session. */
export interface SessionParts {
  readonly send: Send;
  readonly storage: TokenStorage;
  readonly mode: AuthMode;
  readonly autoRefresh: boolean;
  /** Milliseconds. */
  readonly refreshBeforeMs: number;
  /** Empty: none. */
  readonly staticToken: string;
  /** Address of the server. */
  readonly url: string;
}

/** The session of a client. */
export interface Session {
  /** The token for the next request; one that ends soon is refreshed before. */
  token(): Promise<string | null>;
  /** The token in place of one that the server calls outdated; null: there is no way to another. */
  replacement(token: string | null): Promise<string | null>;
  login(credentials: Credentials): Promise<AuthTokens>;
  /** However many ask at once, one request is sent. */
  refresh(): Promise<AuthTokens>;
  logout(body: { readonly all?: boolean }): Promise<void>;
  /** Uses a static token from now on. */
  fix(token: string): void;
}

/** Makes a session from what the storage has. */
export function createSession({
  send,
  storage,
  mode,
  autoRefresh,
  refreshBeforeMs,
  staticToken,
  url,
}: SessionParts): Session {
  let fixed = staticToken;
  let running: Promise<AuthTokens> | null = null;
  /** Counts the users of this client: a request made for an earlier user says nothing about the current one. */
  let era = 0;

  const post = (path: readonly Key[], body: object): Promise<Response> =>
    send({ method: 'POST', path, body, isAnonymous: true }, null);

  const current = (): string | null => fixed || storage.get('auth_token');

  function isDue(): boolean {
    const end = storage.get('auth_expires_at');
    return end !== null && Number(end) - Date.now() <= refreshBeforeMs;
  }

  function keep({ access_token, expires, refresh_token }: AuthTokens): void {
    storage.set('auth_token', access_token);
    storage.set('auth_expires', String(expires));
    storage.set('auth_expires_at', String(Date.now() + expires));
    storage.set('auth_refresh_token', mode === 'json' ? (refresh_token ?? null) : null);
  }

  function forget(): void {
    for (const name of ['auth_token', 'auth_refresh_token', 'auth_expires', 'auth_expires_at'] as const) {
      storage.set(name, null);
    }
  }

  function refresh(): Promise<AuthTokens> {
    if (running === null) {
      const renewal = renewOnce().finally(() => {
        if (running === renewal) running = null;
      });
      running = renewal;
    }
    return running;
  }

  /** Refreshes once for all tabs with one storage: the first tab asks, the others take its result. */
  function renewOnce(): Promise<AuthTokens> {
    if (!storage.isShared) return renew();
    const before = storage.get('auth_token');
    return exclusively(`platform ${storage.prefix} ${url}`, async () => {
      const [now, expires] = [storage.get('auth_token'), Number(storage.get('auth_expires'))];
      if (now === null || now === before || isDue()) return renew();
      const refreshToken = storage.get('auth_refresh_token');
      return { access_token: now, expires, ...(refreshToken !== null && { refresh_token: refreshToken }) };
    });
  }

  async function renew(): Promise<AuthTokens> {
    const begun = era;
    const refreshToken = storage.get('auth_refresh_token');
    try {
      const body = { mode, ...(mode === 'json' && refreshToken !== null && { refresh_token: refreshToken }) };
      const tokens = await readTokens(await post(['auth', 'refresh'], body));
      if (era === begun) keep(tokens);
      return tokens;
    } catch (error) {
      // A server that cannot answer now has not ended the session; one that refuses has.
      if (era === begun && isRefusal(error)) forget();
      throw error;
    }
  }

  return {
    async token() {
      if (fixed === '' && autoRefresh && isDue()) await refresh();
      return current();
    },
    async replacement(token) {
      if (token === null || fixed !== '' || !autoRefresh) return null;
      if (current() === token) await refresh();
      return current();
    },
    async login(credentials) {
      const tokens = await readTokens(await post(['auth', 'login'], { ...credentials, mode }));
      era++;
      running = null;
      fixed = '';
      keep(tokens);
      return tokens;
    },
    refresh,
    async logout(options) {
      // A refresh under way would bring a token that is never ended.
      await running?.catch(() => undefined);
      const refreshToken = storage.get('auth_refresh_token');
      const isOpen = mode === 'cookie' ? fixed === '' : refreshToken !== null;
      era++;
      fixed = '';
      forget();
      if (isOpen) await post(['auth', 'logout'], { ...options, ...(refreshToken && { refresh_token: refreshToken }) });
    },
    fix(token) {
      era++;
      fixed = token;
    },
  };
}

async function readTokens(response: Response): Promise<AuthTokens> {
  const { data }: { readonly data: AuthTokens } = JSON.parse(await response.text());
  return data;
}

function isRefusal(error: unknown): boolean {
  return error instanceof PlatformError && [400, 401, 403].includes(error.status);
}
