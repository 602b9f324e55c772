/** Options of a client, and their defaults. Source: API specification, section 15. */
import type { Parameters } from './call.ts';

/** Keeper of the refresh token: the browser in a cookie that no script reads, or the client. */
export type AuthMode = 'cookie' | 'json';

/** Options of sessions. */
export interface SessionOptions {
  /** `cookie` in browsers, `json` otherwise. */
  readonly mode?: AuthMode;
  /** Refreshes an access token before it expires. Default true. */
  readonly autoRefresh?: boolean;
  /** Milliseconds before its end at which an access token is refreshed. Default 30000. */
  readonly msRefreshBeforeExpires?: number;
  readonly staticToken?: '';
}

/** A program's token, which is never refreshed. */
export interface StaticTokenOptions {
  readonly mode?: AuthMode;
  /** Sent as Bearer. Empty: there is none. */
  readonly staticToken: string;
  readonly autoRefresh?: never;
  readonly msRefreshBeforeExpires?: never;
}

/** Storage with the methods of `localStorage`. */
export interface StorageLike {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

/** Options of where tokens are kept. */
export interface StorageOptions {
  /** Stands before every name. Default empty. */
  readonly prefix?: string;
  /** `LocalStorage` in browsers that allow it, `MemoryStorage` otherwise; or an object that works like `localStorage`. */
  readonly mode?: 'LocalStorage' | 'MemoryStorage' | StorageLike;
}

/** Options of requests. */
export interface TransportOptions {
  /** Added to the query string of every request. */
  readonly params?: Parameters;
  /** Added to the headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Number of times that a request answered by 429 or 503 is sent again. Default 3. */
  readonly retries?: number;
  /** Sends requests in place of the global `fetch`. */
  readonly fetch?: Fetch;
  /** Told how much of a form has been sent, again and again. */
  readonly onUploadProgress?: (progress: UploadProgress) => void;
}

/** Progress of an upload, in bytes. */
export interface UploadProgress {
  readonly loaded: number;
  /** Absent where it is not known. */
  readonly total?: number;
}

/** Function that sends a request. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The second argument of `createClient`. */
export interface ClientOptions {
  readonly auth?: SessionOptions | StaticTokenOptions;
  readonly storage?: StorageOptions;
  readonly transport?: TransportOptions;
}

/** Tells whether this is a page of a browser: its origin has cookies and a `localStorage`. */
export function isBrowser(): boolean {
  return 'window' in globalThis && 'document' in globalThis;
}

/** Milliseconds before the end of an access token at which it is refreshed. */
export const defaultRefreshBeforeMs = 30_000;

/** Throws a TypeError for options that exclude each other. */
export function checkOptions(url: unknown, { auth = {} }: ClientOptions): void {
  if (typeof url !== 'string' || url === '') throw new TypeError('A client needs the address of its server.');
  if (/^[\w.-]+:(?!\/\/)/.test(url)) throw new TypeError(`Write "http://" or "https://" in front of "${url}".`);
  const refreshing = auth.autoRefresh !== undefined || auth.msRefreshBeforeExpires !== undefined;
  if (auth.staticToken && refreshing)
    throw new TypeError('A static token is never refreshed: leave these options out.');
}

/** The names of what is kept. */
type StoredName = 'auth_token' | 'auth_refresh_token' | 'auth_expires' | 'auth_expires_at';

/** Storage under a prefix. */
export interface TokenStorage {
  /** Other clients may write to it, such as those of other tabs. */
  readonly isShared: boolean;
  /** Names those who take turns: tabs of a browser; elsewhere users of one object, as each may be that of another user. */
  readonly turn: string;
  get(name: StoredName): string | null;
  /** null removes. */
  set(name: StoredName, value: string | null): void;
}

/** Opens the storage. Throws a TypeError for `LocalStorage` where there is none. */
export function openStorage({ prefix = '', mode }: StorageOptions = {}): TokenStorage {
  const chosen = mode ?? (hasLocalStorage() ? 'LocalStorage' : 'MemoryStorage');
  const storage = chosen === 'MemoryStorage' ? createMemory() : chosen === 'LocalStorage' ? findLocalStorage() : chosen;
  return {
    isShared: chosen !== 'MemoryStorage',
    turn: isBrowser() ? prefix : `${prefix} ${numberOf(storage)}`,
    get: (name) => storage.getItem(prefix + name),
    set(name, value) {
      if (value === null) storage.removeItem(prefix + name);
      else storage.setItem(prefix + name, value);
    },
  };
}

const numbers = new WeakMap<StorageLike, number>();

function numberOf(storage: StorageLike): number {
  const number = numbers.get(storage) ?? Math.random();
  numbers.set(storage, number);
  return number;
}

function createMemory(): StorageLike {
  const values = new Map<string, string>();
  return {
    getItem: (name) => values.get(name) ?? null,
    setItem: (name, value) => void values.set(name, value),
    removeItem: (name) => void values.delete(name),
  };
}

/** Browsers refuse it on pages whose cookies are blocked, and in frames without an origin. */
function hasLocalStorage(): boolean {
  try {
    return isBrowser() && Boolean(localStorage);
  } catch {
    return false;
  }
}

function findLocalStorage(): StorageLike {
  // Node has something of this name, which keeps nothing or warns when it is touched.
  if (isBrowser()) return localStorage;
  throw new TypeError('LocalStorage is for browsers: use MemoryStorage, or an object that works like localStorage.');
}
