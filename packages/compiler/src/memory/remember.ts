/** Reuses a result for as long as every question asked while making it has the same answer. */

import type { Piece } from '../print/pieces.ts';
import type { Archive } from './archive.ts';
import { digestOf, digestOfAll } from './digest.ts';

/** Answers by name. */
export type Lookup<Answer> = Pick<ReadonlyMap<string, Answer>, 'get' | 'has'>;

/** Hands a lookup on and takes down what is asked of it. */
export type Watch = <Answer>(source: Lookup<Answer>) => Lookup<Answer>;

/** How what is made is written down for later processes. */
export interface Lasting<Made> {
  /** Unique number of the maker. */
  readonly maker: string;
  readonly texts: (made: Made) => readonly Piece[];
  readonly made: (texts: readonly Piece[]) => Made;
}

interface Kept<Made> {
  readonly asked: readonly Asked[];
  readonly made: Made;
}

/** A question to the source of that number: its answer for a name, or whether it has one. */
interface Asked {
  readonly source: number;
  readonly name: string;
  readonly kind: 'get' | 'has';
  readonly answer: unknown;
}

type Sources = readonly Lookup<unknown>[];

/** Number of results, the latest, that are kept for one object. */
const maxResults = 32;

/**
 * Remembers results made of an object, for as long as the object lives; if `lasting`, also in an archive.
 * `make` may read the object, which never changes, and `sources` through `watch`; nothing else may differ between two
 * calls. Answers are the same if they are one object or one plain value; for an archive, if they say the same.
 */
export function createMemory<Made>(lasting: Lasting<Made> | null = null) {
  const memory = new WeakMap<object, Kept<Made>[]>();
  return (key: object, sources: Sources, archive: Archive | null, make: (watch: Watch) => Made): Made => {
    const all = memory.get(key) ?? [];
    memory.set(key, all);
    const cached = all.find(({ asked }) =>
      asked.every((question) => Object.is(ask(sources[question.source], question), question.answer)),
    );
    if (cached !== undefined) return cached.made;
    const lasts = archive !== null && lasting !== null;
    const kept = lasts ? recall(key, sources, archive, lasting, make) : makeNow(sources, make);
    all.unshift(kept);
    all.length = Math.min(all.length, maxResults);
    return kept.made;
  };
}

function makeNow<Made>(sources: Sources, make: (watch: Watch) => Made): Kept<Made> {
  const asked: Asked[] = [];
  const made = make((source) => watched(source, sources.indexOf(source), asked));
  return { asked, made };
}

/** From the archive where it is there, and still good; it is kept there in any case. */
function recall<Made>(
  key: object,
  sources: Sources,
  archive: Archive,
  { maker, made, texts }: Lasting<Made>,
  make: (watch: Watch) => Made,
): Kept<Made> {
  const digest = digestOf(key);
  for (const entry of archive.find(maker, digest)) {
    const asked = entry.asked.map(([source, kind, name]) => {
      return { source, kind, name, answer: ask(sources[source], { kind, name }) };
    });
    if (answersOf(asked) !== entry.answers) continue;
    archive.keep(maker, digest, entry);
    return { asked, made: made(entry.texts) };
  }
  const fresh = makeNow(sources, make);
  const asked = fresh.asked.map(({ source, kind, name }) => [source, kind, name] as const);
  archive.keep(maker, digest, { asked, answers: answersOf(fresh.asked), texts: texts(fresh.made) });
  return fresh;
}

function answersOf(asked: readonly Asked[]): string {
  return digestOfAll(asked.map(({ answer }) => answer));
}

function ask(source: Lookup<unknown> | undefined, { kind, name }: Pick<Asked, 'kind' | 'name'>): unknown {
  return source?.[kind](name);
}

/** Watching a source twice records its questions twice, which costs no more than asking them again. */
function watched<Answer>(lookup: Lookup<Answer>, source: number, asked: Asked[]): Lookup<Answer> {
  if (source < 0) throw new Error('What is watched must be one of the sources.');
  // Many sources are asked nothing.
  let got: Map<string, Answer | undefined> | undefined;
  let had: Set<string> | undefined;
  return {
    get(name) {
      got ??= new Map();
      const cached = got.get(name);
      if (cached !== undefined) return cached;
      const answer = lookup.get(name);
      if (answer !== undefined || !got.has(name)) asked.push({ source, name, kind: 'get', answer });
      got.set(name, answer);
      return answer;
    },
    has(name) {
      const answer = lookup.has(name);
      had ??= new Set();
      if (had.has(name)) return answer;
      had.add(name);
      asked.push({ source, name, kind: 'has', answer });
      return answer;
    },
  };
}
