/** How long ago replicas were level with the server that takes writes, by the clock of this process: clocks of servers may jump. */
import type { HostFacts } from './host-probe.ts';
import type { HasReached } from './positions.ts';

interface Sample {
  readonly position: string;
  readonly time: number;
}

/** Samples that are kept: one each second. */
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

  /** Milliseconds that a server was behind which was asked at a time; undefined where nothing is known of that time. */
  lagOf(position: string | null, startedAt: number): number | undefined {
    const earlier = this.#samples.filter(({ time }) => time <= startedAt);
    const last = earlier.at(-1);
    if (position === null || last === undefined || startedAt - last.time > staleMs) return undefined;
    const missed = earlier.find((sample) => !this.#hasReached(position, sample.position));
    return missed === undefined ? 0 : startedAt - missed.time;
  }
}
