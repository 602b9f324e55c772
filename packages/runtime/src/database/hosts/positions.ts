/** Position of writes in the log of changes of the server that takes them. */
import type { LogPosition } from '../../operate/request-record.ts';
import type { HostFacts } from '../host-state.ts';

/** Tells if a server at a position has come to another one. */
export type HasReached = (position: string, other: string) => boolean;

/** Stands for a position that is not known: only the server that takes writes has surely come to it. */
export const latestPosition = 'latest';

/** The history that is written now; null before that is known. */
export type KnownHistory = () => Omit<LogPosition, 'position'> | null;

/** Milliseconds for which a position that was not told is waited out. */
const doubtMs = 1_000;

/** The latest position that was told after a COMMIT. It is never before that of a transaction that has resolved. */
export class Positions {
  readonly #hasReached: HasReached;
  readonly #history: KnownHistory;
  #latest: LogPosition | null = null;
  /** Until then some transaction may have ended later than what is known. */
  #doubtedUntil = 0;

  constructor(hasReached: HasReached, history: KnownHistory) {
    this.#hasReached = hasReached;
    this.#history = history;
  }

  get latest(): LogPosition | typeof latestPosition | null {
    return performance.now() < this.#doubtedUntil ? latestPosition : this.#latest;
  }

  /** Takes the answer of the server after a COMMIT; null where it told none. */
  note(position: string | null): void {
    const history = this.#history();
    if (position === null || history === null) {
      this.#doubtedUntil = performance.now() + doubtMs;
      return;
    }
    const former = this.#latest;
    const isSame = former !== null && former.timeline === history.timeline;
    if (isSame && this.#hasReached(former.position, position)) return;
    this.#latest = { ...history, position };
  }
}

interface Sample {
  readonly position: string;
  readonly time: number;
}

/** Samples that are kept: one at each look. */
const maxSamples = 120;
/** Milliseconds after which the latest sample tells nothing of now. */
const staleMs = 3_000;

/** Measures lag by positions of the server that takes writes. */
export class LagMeter {
  readonly #hasReached: HasReached;
  #samples: Sample[] = [];
  #timeline: number | undefined;

  constructor(hasReached: HasReached) {
    this.#hasReached = hasReached;
  }

  /** Notes where the server that takes writes is. Positions of another history are forgotten. */
  note({ position, timeline }: Pick<HostFacts, 'position' | 'timeline'>, time = performance.now()): void {
    if (timeline !== this.#timeline) this.#samples = [];
    this.#timeline = timeline;
    if (position !== undefined) this.#samples.push({ position, time });
    if (this.#samples.length > maxSamples) this.#samples.shift();
  }

  /**
   * Milliseconds that a server was behind which was asked at a time: infinitely many for one that is behind all that is known.
   * It may be behind by any time, or follow another server.
   * Undefined where nothing is known of that time.
   */
  lagOf(position: string | null, startedAt: number): number | undefined {
    const earlier = this.#samples.filter(({ time }) => time <= startedAt);
    const last = earlier.at(-1);
    if (position === null || last === undefined || startedAt - last.time > staleMs) return undefined;
    const missed = earlier.find((sample) => !this.#hasReached(position, sample.position));
    if (missed === undefined) return 0;
    return missed === earlier[0] ? Number.POSITIVE_INFINITY : startedAt - missed.time;
  }
}
