/** Where tokens are kept. */
import { isBrowser, type StorageLike, type StorageOptions } from './options.ts';

/** The names of what is kept. */
export type StoredName = 'auth_token' | 'auth_refresh_token' | 'auth_expires' | 'auth_expires_at';

/** Storage under a prefix. */
export interface TokenStorage {
  /** Other clients may write to it, such as those of other tabs. */
  readonly isShared: boolean;
  readonly prefix: string;
  get(name: StoredName): string | null;
  /** null removes. */
  set(name: StoredName, value: string | null): void;
}

/** Opens the storage. Throws a TypeError for `LocalStorage` where there is none. */
export function openStorage({ prefix = '', mode }: StorageOptions = {}): TokenStorage {
  const chosen = mode ?? (isBrowser() ? 'LocalStorage' : 'MemoryStorage');
  const storage = chosen === 'MemoryStorage' ? createMemory() : chosen === 'LocalStorage' ? findLocalStorage() : chosen;
  return {
    isShared: chosen !== 'MemoryStorage',
    prefix,
    get: (name) => storage.getItem(prefix + name),
    set(name, value) {
      if (value === null) storage.removeItem(prefix + name);
      else storage.setItem(prefix + name, value);
    },
  };
}

function createMemory(): StorageLike {
  const values = new Map<string, string>();
  return {
    getItem: (name) => values.get(name) ?? null,
    setItem: (name, value) => void values.set(name, value),
    removeItem: (name) => void values.delete(name),
  };
}

function findLocalStorage(): StorageLike {
  // Node has something of this name, which keeps nothing or warns when it is touched.
  if (isBrowser()) return localStorage;
  throw new TypeError('LocalStorage is for browsers: use MemoryStorage, or an object that works like localStorage.');
}
