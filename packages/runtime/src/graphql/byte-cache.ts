/** A cache bounded by number and weight of entries, of two generations, that costs one look-up per hit. */
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

export function createByteCache<Value>(size: ByteCacheSize): ByteCache<Value> {
  let young = new Map<string, Weighed<Value>>();
  let old = new Map<string, Weighed<Value>>();
  let weight = 0;

  function put(key: string, weighed: Weighed<Value>): void {
    if (weighed.bytes > size.bytes) return;
    if (young.size >= size.entries || weight + weighed.bytes > size.bytes) {
      old = young;
      young = new Map();
      weight = 0;
    }
    weight += weighed.bytes - (young.get(key)?.bytes ?? 0);
    young.set(key, weighed);
  }

  return {
    get(key) {
      const found = young.get(key);
      if (found !== undefined) return found.value;
      const aged = old.get(key);
      if (aged === undefined) return undefined;
      old.delete(key);
      put(key, aged);
      return aged.value;
    },
    set: (key, value, bytes) => put(key, { value, bytes }),
  };
}
