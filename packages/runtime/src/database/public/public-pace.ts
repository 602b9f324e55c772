/**
 * How statements of callers without a token give way. They let the work of callers with a token go first, and pause
 * after each other while there is such work. So it finds the database free most of the time.
 */

/** Pauses of statements. */
export interface PaceLimits {
  /** Milliseconds beyond which a statement is slow. */
  readonly slowMs: number;
  /** Pause of slow statements after one of them, as a multiple of its time. */
  readonly pauseFactor: number;
  /** Additional limits beside work of callers with a token. Null: none. */
  readonly beside: BesideLimits | null;
}

/** How statements of callers without a token give way to other work. */
interface BesideLimits {
  /** How long one lets other work that is under way go first, in milliseconds. */
  readonly yieldMs: number;
  /** Pause after a statement that was not quick, as a multiple of its time. Quick statements need not wait for its end. */
  readonly pauseFactor: number;
  /** Milliseconds that a client's statements may take of late before it has to wait for that. */
  readonly freeMs: number;
  /** The part of the time that slow and unknown statements may take while many wait. */
  readonly slowShare: number;
}

/** The longest pause after a statement, in milliseconds. */
const maxPauseMs = 5_000;
/** Other work counts as under way a moment longer: a sign-in or a write is several statements, one after the other. */
const lingerMs = 3;
/** Callers with a token are there for so long after their last work, in milliseconds. */
const presenceMs = 1_000;
/** Time that slow statements have in hand when they are held to their share, in milliseconds. */
const slowBurstMs = 100;

/** A statement that others pause after. */
interface Pause {
  readonly ended: number;
  readonly ms: number;
}

const noPause: Pause = { ended: Number.NEGATIVE_INFINITY, ms: 0 };

/** Tells whether statements have to wait for others. All times are those of `performance.now()`. */
export class PublicPace {
  readonly #limits: PaceLimits;
  /** Work of callers with a token that is under way, and when the last of it ended. */
  #others = 0;
  #othersEnded = Number.NEGATIVE_INFINITY;
  #begun = Number.NEGATIVE_INFINITY;
  /** The last statement that was not quick, and the last that was slow. */
  #last = noPause;
  #lastSlow = noPause;
  /** Milliseconds that slow statements may still take, as of the end of the last one. */
  #slowCredit = slowBurstMs;

  constructor(limits: PaceLimits) {
    this.#limits = limits;
  }

  /** Runs work of callers with a token. */
  beside<T>(run: () => Promise<T>): Promise<T> {
    this.#others++;
    return run().finally(() => {
      this.#others--;
      this.#othersEnded = performance.now();
    });
  }

  /** Notes that a statement begins. */
  begun(now: number): void {
    this.#begun = now;
  }

  /** Notes that a statement has ended that was not quick. */
  ended(now: number, ms: number): void {
    this.#last = { ended: now, ms };
    if (ms <= this.#limits.slowMs) return;
    this.#slowCredit = this.#creditAt(now) - ms;
    this.#lastSlow = this.#last;
  }

  /**
   * True if other work goes first. While such work goes on, one statement after the other begins, each after a wait
   * from `since` on.
   */
  yields(now: number, since = Number.NEGATIVE_INFINITY): boolean {
    const { beside } = this.#limits;
    if (beside === null || now - Math.max(since, this.#begun) >= beside.yieldMs) return false;
    return this.#others > 0 || now - this.#othersEnded < lingerMs;
  }

  /** True if statements that are not quick pause. */
  isPausing(now: number): boolean {
    const near = this.#near(now);
    return near !== null && isWithin(this.#last, near.pauseFactor, now);
  }

  /** True if a client has to pause, because its statements took so long of late. */
  isHeld(usedMs: number): boolean {
    const { beside } = this.#limits;
    return beside !== null && usedMs >= beside.freeMs;
  }

  /** True if slow statements pause. */
  isPausingSlow(now: number): boolean {
    return isWithin(this.#lastSlow, this.#limits.pauseFactor, now);
  }

  /** True if slow statements have used their share of the time. */
  isShareUsed(now: number): boolean {
    return this.#near(now) !== null && this.#creditAt(now) <= 0;
  }

  #near(now: number): BesideLimits | null {
    return this.#others > 0 || now - this.#othersEnded < presenceMs ? this.#limits.beside : null;
  }

  /** It grows with time, up to what it was at first. */
  #creditAt(now: number): number {
    const { beside } = this.#limits;
    if (beside === null || this.#lastSlow === noPause) return slowBurstMs;
    return Math.min(slowBurstMs, this.#slowCredit + (now - this.#lastSlow.ended) * beside.slowShare);
  }
}

function isWithin({ ended, ms }: Pause, factor: number, now: number): boolean {
  return now - ended < Math.min(ms * factor, maxPauseMs);
}
