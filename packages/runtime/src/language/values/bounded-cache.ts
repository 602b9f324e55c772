/** A bounded cache that costs one look-up per hit, of two generations: at most twice `size` entries. */
export interface BoundedCache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
}

/** Caches of a server, as metrics name them: of reads by their text, of reads by their form, of writes, and of GraphQL. */
export const cacheNames = ['read_templates', 'reads', 'writes', 'graphql'] as const;

export type CacheName = (typeof cacheNames)[number];

/** Makes a cache of a server; without a name its look-ups are not counted. */
export type CreateCache = <Value>(name: CacheName | null) => BoundedCache<Value>;

/** Entries of a generation of such a cache. */
export const plansKept = 1_000;

export const createUncounted: CreateCache = () => createBoundedCache(plansKept);

export const createEmpty: CreateCache = () => ({ get: () => undefined, set() {} });

export function countLookups<Value>(
  { get, set }: BoundedCache<Value>,
  hits: { value: number },
  misses: { value: number },
): BoundedCache<Value> {
  return {
    set,
    get(key) {
      const found = get(key);
      if (found === undefined) misses.value++;
      else hits.value++;
      return found;
    },
  };
}

/** Creates a cache whose generations hold `size` entries each; by `weight` also so many bytes, and no heavier entry. */
export function createBoundedCache<Value>(
  size: number,
  weight?: { readonly maxBytes: number; readonly bytesOf: (value: Value) => number },
): BoundedCache<Value> {
  const { maxBytes = 0, bytesOf = () => 0 } = weight ?? {};
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  let weighs = 0;

  function set(key: string, value: Value): void {
    const bytes = bytesOf(value);
    if (bytes > maxBytes) return;
    if (young.size >= size || weighs + bytes > maxBytes) {
      old = young;
      young = new Map();
      weighs = 0;
    }
    const former = young.get(key);
    weighs += bytes - (former === undefined ? 0 : bytesOf(former));
    young.set(key, value);
  }

  function get(key: string): Value | undefined {
    const found = young.get(key);
    if (found !== undefined) return found;
    const aged = old.get(key);
    if (aged !== undefined) set(key, aged);
    return aged;
  }

  return { get, set };
}

/** Longer statements are rare and planned every time, so that the cache is bounded in bytes too. */
export const longestCachedStatement = 65_536;
