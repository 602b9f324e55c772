/** Notes that others attach to statements and plans: the engine carries them along, and reads none. */
export interface Noted {
  readonly [note: symbol]: unknown;
}

/** Kind of note. */
export interface Note<T> {
  /** The note on a statement or plan, where there is one. */
  of(noted: Noted): T | undefined;
  /** The same statement or plan with a note. */
  on<N extends Noted>(noted: N, value: T): N;
}

/** Makes a kind of note. */
export function createNote<T>(name: string): Note<T> {
  const key = Symbol(name);
  return {
    of: (noted) => noted[key] as T | undefined,
    on: (noted, value) => ({ ...noted, [key]: value }),
  };
}
