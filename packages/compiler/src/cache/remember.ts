/** Reuses a result for as long as every question asked while making it has the same answer. */

import type { Chunk } from '../print/chunks.ts';
import { digestOf, digestOfAll } from './digest.ts';
import type { DiskCache } from './disk-cache.ts';

/** Answers by name. */
export type Lookup<Value> = Pick<ReadonlyMap<string, Value>, 'get' | 'has'>;

/** Hands a lookup on and takes down what is asked of it. */
export type Watch = <Value>(source: Lookup<Value>) => Lookup<Value>;

/** How what is made is written down for later processes. */
export interface Lasting<Made> {
  /** Unique number of the generator. */
  readonly generator: string;
  readonly texts: (made: Made) => readonly Chunk[];
  readonly made: (texts: readonly Chunk[]) => Made;
}

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
 * Remembers results made of an object, for as long as the object lives; if `lasting`, also in a disk cache.
 * `compute` may read the object, which never changes, and `sources` through `watch`; nothing else may differ between two
 * calls. Answers are the same if they are one object or one plain value; for a disk cache, if they say the same.
 */
export function createCache<Made>(lasting: Lasting<Made> | null = null) {
  const memoCache = new WeakMap<object, Kept<Made>[]>();
  return (key: object, sources: Sources, diskCache: DiskCache | null, compute: (watch: Watch) => Made): Made => {
    const all = memoCache.get(key) ?? [];
    memoCache.set(key, all);
    const cached = all.find(({ lookups }) =>
      lookups.every((question) => Object.is(lookUp(sources[question.source], question), question.result)),
    );
    if (cached !== undefined) return cached.made;
    const lasts = diskCache !== null && lasting !== null;
    const kept = lasts ? recall(key, sources, diskCache, lasting, compute) : computeNow(sources, compute);
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

/** From the disk cache where it is there, and still good; it is kept there in any case. */
function recall<Made>(
  key: object,
  sources: Sources,
  diskCache: DiskCache,
  { generator, made, texts }: Lasting<Made>,
  compute: (watch: Watch) => Made,
): Kept<Made> {
  const digest = digestOf(key);
  for (const entry of diskCache.find(generator, digest)) {
    const lookups = entry.lookups.map(([source, kind, name]) => {
      return { source, kind, name, result: lookUp(sources[source], { kind, name }) };
    });
    if (resultsDigest(lookups) !== entry.results) continue;
    diskCache.keep(generator, digest, entry);
    return { lookups, made: made(entry.texts) };
  }
  const fresh = computeNow(sources, compute);
  const lookups = fresh.lookups.map(({ source, kind, name }) => [source, kind, name] as const);
  diskCache.keep(generator, digest, { lookups, results: resultsDigest(fresh.lookups), texts: texts(fresh.made) });
  return fresh;
}

function resultsDigest(lookups: readonly RecordedLookup[]): string {
  return digestOfAll(lookups.map(({ result }) => result));
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
