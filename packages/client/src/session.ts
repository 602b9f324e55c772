/** Tokens of a client: their user and their lifetime. Source: API specification, sections 2 and 15. */
import type { Key } from './call.ts';
import { PlatformError, readAnswer } from './errors.ts';
import type { AuthMode, TokenStorage } from './options.ts';
import type { Send } from './send.ts';
import { exclusively, sleep } from './waits.ts';

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
interface SessionParts {
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
export function createSession(parts: SessionParts): Session {
  return new TokenSession(parts);
}

class TokenSession implements Session {
  readonly #parts: SessionParts;
  #fixed: string;
  #running: Promise<AuthTokens> | null = null;
  /** Counts the users of this client: a request made for an earlier user says nothing about the current one. */
  #era = 0;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#fixed = parts.staticToken;
  }

  async token(): Promise<string | null> {
    const { autoRefresh, refreshBeforeMs } = this.#parts;
    if (this.#fixed !== '' || !autoRefresh || !this.#endsWithin(refreshBeforeMs)) return this.#current();
    await this.refresh().catch((error: unknown) => {
      // A server that cannot refresh now may answer reads still, until the token ends.
      if (isRefusal(error) || this.#endsWithin(0)) throw error;
    });
    return this.#current();
  }

  async replacement(token: string | null): Promise<string | null> {
    if (token === null || this.#fixed !== '' || !this.#parts.autoRefresh) return null;
    if (this.#current() === token) await this.refresh();
    return this.#current();
  }

  async login(credentials: Credentials): Promise<AuthTokens> {
    const tokens = await readTokens(await this.#post(['auth', 'login'], { ...credentials, mode: this.#parts.mode }));
    this.#era++;
    this.#running = null;
    this.#fixed = '';
    this.#keep(tokens);
    return tokens;
  }

  async logout(options: { readonly all?: boolean }): Promise<void> {
    const { storage, mode } = this.#parts;
    // A refresh under way would bring a token that is never ended.
    await this.#running?.catch(() => undefined);
    const refreshToken = storage.get('auth_refresh_token');
    const isOpen = mode === 'cookie' ? this.#fixed === '' : refreshToken !== null;
    this.#era++;
    this.#fixed = '';
    this.#forget();
    if (!isOpen) return;
    try {
      await this.#post(['auth', 'logout'], { ...options, ...(refreshToken && { refresh_token: refreshToken }) });
    } catch (error) {
      // Only the browser knows whether there is a cookie: another tab may have signed out.
      if (!(mode === 'cookie' && error instanceof PlatformError && error.code === 'INVALID_PAYLOAD')) throw error;
    }
  }

  fix(token: string): void {
    this.#era++;
    this.#fixed = token;
  }

  refresh(): Promise<AuthTokens> {
    if (this.#running === null) {
      const renewal = this.#renewOnce().finally(() => {
        if (this.#running === renewal) this.#running = null;
      });
      this.#running = renewal;
    }
    return this.#running;
  }

  #post(path: readonly Key[], body: object): Promise<Response> {
    return this.#parts.send({ method: 'POST', path, body, isAnonymous: true }, null);
  }

  #current(): string | null {
    return this.#fixed || this.#parts.storage.get('auth_token');
  }

  #endsWithin(milliseconds: number): boolean {
    const end = this.#parts.storage.get('auth_expires_at');
    return end !== null && Number(end) - Date.now() <= milliseconds;
  }

  #keep({ access_token, expires, refresh_token }: AuthTokens): void {
    const { storage, mode } = this.#parts;
    storage.set('auth_token', access_token);
    storage.set('auth_expires', String(expires));
    storage.set('auth_expires_at', String(Date.now() + expires));
    storage.set('auth_refresh_token', mode === 'json' ? (refresh_token ?? null) : null);
  }

  #forget(): void {
    for (const name of ['auth_token', 'auth_refresh_token', 'auth_expires', 'auth_expires_at'] as const) {
      this.#parts.storage.set(name, null);
    }
  }

  /** Refreshes once for all tabs with one storage: the first tab asks, the others take its result. */
  #renewOnce(): Promise<AuthTokens> {
    const { storage, url, refreshBeforeMs } = this.#parts;
    if (!storage.isShared) return this.#renew();
    const before = storage.get('auth_token');
    return exclusively(`platform ${storage.turn} ${url}`, async () => {
      const [now, expires] = [storage.get('auth_token'), Number(storage.get('auth_expires'))];
      if (now === null || now === before || this.#endsWithin(refreshBeforeMs)) return this.#renew();
      const refreshToken = storage.get('auth_refresh_token');
      return { access_token: now, expires, ...(refreshToken !== null && { refresh_token: refreshToken }) };
    });
  }

  async #exchange(): Promise<AuthTokens> {
    const { storage, mode } = this.#parts;
    const [begun, token] = [this.#era, storage.get('auth_token')];
    const refreshToken = storage.get('auth_refresh_token');
    const body = { mode, ...(mode === 'json' && refreshToken !== null && { refresh_token: refreshToken }) };
    const tokens = await readTokens(await this.#post(['auth', 'refresh'], body));
    // A user may have signed out in another tab meanwhile, or another user in.
    if (this.#era === begun && storage.get('auth_token') === token) this.#keep(tokens);
    return tokens;
  }

  /** Tries once more by its successor where a page that was left, or a tab that takes no turns, has used the token. */
  async #renew(): Promise<AuthTokens> {
    const { storage, mode } = this.#parts;
    const begun = this.#era;
    const refreshToken = storage.get('auth_refresh_token');
    try {
      return await this.#exchange().catch(async (error) => {
        if (!(mode === 'cookie' || storage.isShared) || !isUsedUp(error)) throw error;
        await sleep(arrival, undefined);
        const isReplaced = mode === 'cookie' || storage.get('auth_refresh_token') !== refreshToken;
        if (this.#era !== begun || !isReplaced) throw error;
        return this.#exchange();
      });
    } catch (error) {
      // A server that cannot answer now has not ended the session; one that refuses has.
      if (this.#era === begun && isRefusal(error)) this.#forget();
      throw error;
    }
  }
}

/** Milliseconds in which the answer to another page brings its cookie or tokens. */
const arrival = 1000;

function isUsedUp(error: unknown): boolean {
  return error instanceof PlatformError && error.code === 'INVALID_CREDENTIALS';
}

async function readTokens(response: Response): Promise<AuthTokens> {
  return (await readAnswer<{ readonly data: AuthTokens }>(response)).data;
}

/** True for a refusal of the server; one without a code comes from a proxy. */
function isRefusal(error: unknown): boolean {
  return error instanceof PlatformError && error.code !== null && [400, 401, 403].includes(error.status);
}
