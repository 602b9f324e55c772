/** A cache bounded by number and weight of entries. */
import { createBoundedCache } from '../language/values/bounded-cache.ts';

export interface ByteCache<Value> {
  get(key: string): Value | undefined;
  /** Keeps a value of so many bytes; one that alone is heavier than a generation is not kept. */
  set(key: string, value: Value, bytes: number): void;
}

/** Size of one generation; a cache has two. */
interface ByteCacheSize {
  readonly entries: number;
  readonly bytes: number;
}

export type CreateByteCache = <Value>(size: ByteCacheSize) => ByteCache<Value>;

export const createEmptyBytes: CreateByteCache = () => ({ get: () => undefined, set() {} });

interface Weighed<Value> {
  readonly value: Value;
  readonly bytes: number;
}

export function createByteCache<Value>({ entries, bytes: maxBytes }: ByteCacheSize): ByteCache<Value> {
  const cache = createBoundedCache<Weighed<Value>>(entries, { maxBytes, bytesOf: ({ bytes }) => bytes });
  return {
    get: (key) => cache.get(key)?.value,
    set: (key, value, bytes) => cache.set(key, { value, bytes }),
  };
}
