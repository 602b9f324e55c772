import type { Schema } from '@tablewright/introspect/schema';
import { findOrCreate } from '@tablewright/runtime/language';
import type { Api, ApiAccess, ApiCollection } from '../api.ts';
import { isSame } from './same.ts';

/** State that a process carries from one compilation to the next. It changes nothing but the time. */
export interface MemoCache {
  /** Gives the tables of the last time where they say the same. */
  recallTables(tables: Schema['tables']): Schema['tables'];
  /** Gives a schema the tables and collections of the last one where they say the same, so that what was made of them is found. */
  recallSchema(schema: Schema): Schema;
  /** The same with what was made of a schema. */
  recall(api: Api): Api;
}

/** Makes a cache that holds nothing yet. */
export function createMemoCache(): MemoCache {
  const tables = createRecall<Schema['tables'][number]>(({ id }) => id);
  const schemaCollections = createRecall<Schema['collections'][number]>(({ name }) => name);
  const enums = createRecall<Schema['enums'][number]>(({ schema, name }) => JSON.stringify([schema, name]));
  const graphqlEnums = createRecall<NonNullable<Schema['graphqlEnums']>[number]>(({ source }) => source);
  const collections = createRecall<ApiCollection>(({ descriptor }) => descriptor.name);
  const access = createRecall<ApiAccess>(
    (granted) => granted.access.name,
    (granted, last) => {
      const recalled = createRecall<Granted>(({ collection }) => collection, undefined, last?.access.collections);
      return { ...granted, access: { ...granted.access, collections: recalled(granted.access.collections) } };
    },
  );
  return {
    recallTables: tables,
    recallSchema: (schema) => ({
      ...schema,
      tables: tables(schema.tables),
      collections: schemaCollections(schema.collections),
      enums: enums(schema.enums),
      ...(schema.graphqlEnums && { graphqlEnums: graphqlEnums(schema.graphqlEnums) }),
    }),
    recall: (api) => ({ ...api, collections: collections(api.collections), access: access(api.access) }),
  };
}

type Granted = ApiAccess['access']['collections'][number];

/** Gives those of the last time, found by their names, where they say the same; `within` does so with parts of others. */
function createRecall<Item>(
  nameOf: (item: Item) => string,
  within: (item: Item, last: Item | undefined) => Item = (item) => item,
  first: readonly Item[] = [],
): (items: readonly Item[]) => readonly Item[] {
  let last = new Map(first.map((item) => [nameOf(item), item]));
  return (items) => {
    const recalled = items.map((item) => {
      const previous = last.get(nameOf(item));
      return previous !== undefined && isSame(previous, item) ? previous : within(item, previous);
    });
    last = new Map(recalled.map((item) => [nameOf(item), item]));
    return recalled;
  };
}

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
 * Remembers results made of an object while it lives. `compute` may read the object, which never changes, and `sources`
 * through `watch`; nothing else may differ between two calls. Answers are the same if they are one object or plain
 * value.
 */
export function createCache<Made>() {
  const memoCache = new WeakMap<object, Kept<Made>[]>();
  return (key: object, sources: Sources, compute: (watch: Watch) => Made): Made => {
    const all = findOrCreate(memoCache, key, () => []);
    const cached = all.find(({ lookups }) =>
      lookups.every((question) => Object.is(sources[question.source]?.[question.kind](question.name), question.result)),
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
