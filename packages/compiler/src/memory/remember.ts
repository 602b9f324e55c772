/** What was made once is not made again, as long as everything that was asked for it has the same answer. */

/** What can be asked by name. */
export type Lookup<Answer> = Pick<ReadonlyMap<string, Answer>, 'get' | 'has'>;

/** Hands a lookup on and takes down what is asked of it. */
export type Watch = <Answer>(source: Lookup<Answer>) => Lookup<Answer>;

interface Kept<Made> {
  readonly asked: readonly Asked[];
  readonly made: Made;
}

/** A question to the source of that number: what it has by a name, or whether it has it. */
interface Asked {
  readonly source: number;
  readonly name: string;
  readonly kind: 'get' | 'has';
  readonly answer: unknown;
}

/**
 * Remembers what was made of an object, for as long as there is the object.
 *
 * `make` may look at the object, which never changes, and at `sources` through `watch`; nothing else may be different from
 * one time to the next. Answers are the same when they are one object or one plain value. Of one object the latest `most`
 * are kept.
 */
export function createMemory<Made>(most = 32) {
  const memory = new WeakMap<object, Kept<Made>[]>();
  return (key: object, sources: readonly Lookup<unknown>[], make: (watch: Watch) => Made): Made => {
    const all = memory.get(key) ?? [];
    memory.set(key, all);
    const known = all.find(({ asked }) => asked.every((one) => Object.is(ask(sources[one.source], one), one.answer)));
    if (known !== undefined) return known.made;
    const asked: Asked[] = [];
    const made = make((source) => watched(source, sources.indexOf(source), asked));
    all.unshift({ asked, made });
    all.length = Math.min(all.length, most);
    return made;
  };
}

function ask(source: Lookup<unknown> | undefined, { kind, name }: Pick<Asked, 'kind' | 'name'>): unknown {
  return source?.[kind](name);
}

function watched<Answer>(lookup: Lookup<Answer>, source: number, asked: Asked[]): Lookup<Answer> {
  if (source < 0) throw new Error('What is watched must be one of the sources.');
  return {
    get(name) {
      const answer = lookup.get(name);
      asked.push({ source, name, kind: 'get', answer });
      return answer;
    },
    has(name) {
      const answer = lookup.has(name);
      asked.push({ source, name, kind: 'has', answer });
      return answer;
    },
  };
}
