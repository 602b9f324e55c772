/** Reuses a result for as long as every question asked while making it has the same answer. */

/** Answers by name. */
export type Lookup<Value> = Pick<ReadonlyMap<string, Value>, 'get' | 'has'>;

/** Hands a lookup on and takes down what is asked of it. */
export type Watch = <Value>(source: Lookup<Value>) => Lookup<Value>;

interface Kept<Made> {
  readonly lookups: readonly RecordedLookup[];
  readonly made: Made;
}

/** A question to the source of that number: its answer for a name, or whether it has one. */
interface RecordedLookup {
  readonly source: number;
  readonly name: string;
  readonly kind: 'get' | 'has';
  readonly result: unknown;
}

type Sources = readonly Lookup<unknown>[];

/** Number of results, the latest, that are kept for one object. */
const maxResults = 32;

/**
 * Remembers results made of an object, for as long as the object lives. `compute` may read the object, which never
 * changes, and `sources` through `watch`; nothing else may differ between two calls. Answers are the same if they are one
 * object or one plain value.
 */
export function createCache<Made>() {
  const memoCache = new WeakMap<object, Kept<Made>[]>();
  return (key: object, sources: Sources, compute: (watch: Watch) => Made): Made => {
    const all = memoCache.get(key) ?? [];
    memoCache.set(key, all);
    const cached = all.find(({ lookups }) =>
      lookups.every((question) => Object.is(lookUp(sources[question.source], question), question.result)),
    );
    if (cached !== undefined) return cached.made;
    const kept = computeNow(sources, compute);
    all.unshift(kept);
    all.length = Math.min(all.length, maxResults);
    return kept.made;
  };
}

function computeNow<Made>(sources: Sources, compute: (watch: Watch) => Made): Kept<Made> {
  const lookups: RecordedLookup[] = [];
  const made = compute((source) => watched(source, sources.indexOf(source), lookups));
  return { lookups, made };
}

function lookUp(source: Lookup<unknown> | undefined, { kind, name }: Pick<RecordedLookup, 'kind' | 'name'>): unknown {
  return source?.[kind](name);
}

/** Watching a source twice records its questions twice, which costs no more than asking them again. */
function watched<Value>(lookup: Lookup<Value>, source: number, lookups: RecordedLookup[]): Lookup<Value> {
  if (source < 0) throw new Error('The watched source must be one of the sources.');
  // Many sources are asked nothing.
  let got: Map<string, Value | undefined> | undefined;
  let had: Set<string> | undefined;
  return {
    get(name) {
      got ??= new Map();
      const cached = got.get(name);
      if (cached !== undefined) return cached;
      const result = lookup.get(name);
      if (result !== undefined || !got.has(name)) lookups.push({ source, name, kind: 'get', result });
      got.set(name, result);
      return result;
    },
    has(name) {
      const result = lookup.has(name);
      had ??= new Set();
      if (had.has(name)) return result;
      had.add(name);
      lookups.push({ source, name, kind: 'has', result });
      return result;
    },
  };
}
