/**
 * Pace of statements of callers without a token, by how long they and others took of late. They let the work of callers
 * with a token go first, and pause after each other while there is such work. So it mostly finds the database free.
 */

export interface PaceLimits {
  /** Milliseconds beyond which a statement is slow. */
  readonly slowMs: number;
  /** Pause of slow statements after one of them, as a multiple of its time. */
  readonly pauseFactor: number;
  /** Additional limits beside work of callers with a token. Null: none. */
  readonly beside: BesideLimits | null;
}

/** Limits by which statements of callers without a token give way to other work. */
interface BesideLimits {
  /** Time that one lets other work under way go first, in milliseconds. */
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

  /** True if other work goes first. Meanwhile one statement after the other begins, each after a wait from `since`. */
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

  /** Credit now, which grows with time, up to what it was at first. */
  #creditAt(now: number): number {
    const { beside } = this.#limits;
    if (beside === null || this.#lastSlow === noPause) return slowBurstMs;
    return Math.min(slowBurstMs, this.#slowCredit + (now - this.#lastSlow.ended) * beside.slowShare);
  }
}

function isWithin({ ended, ms }: Pause, factor: number, now: number): boolean {
  return now - ended < Math.min(ms * factor, maxPauseMs);
}

/** A statement by its name and the size of its limits. */
export type StatementKind = string;

interface ClientTime {
  /** Milliseconds that the client's statements took; those of earlier count less and less. */
  usedMs: number;
  updatedAt: number;
  slowUntil: number;
}

/** Marks of kinds that are not slow. */
const quick = 0;
const neither = 1;
/** A statement is quick when it takes less, in milliseconds. */
const quickMs = 20;
/** A slow statement counts as slow for so long: longer than others pause after it. */
const slowKindMs = 60_000;
/** Its client counts as slow for so many times as long as it took, and at most so long. */
const slowFactor = 20;
const maxSlowMs = 10_000;
/** After this time, a client's used time counts half. */
const halfLifeMs = 5_000;
/** Statements and clients that are remembered; those that came first are forgotten first. */
const maxRemembered = 5_000;

/** Times of statements of callers without a token: the quick ones, the slow ones, and their clients. */
export class StatementTimes {
  /** Until when a kind is slow; `quick` or `neither` for the others. */
  readonly #kinds = new Map<StatementKind, number>();
  readonly #clients = new Map<string, ClientTime>();
  readonly #slowMs: number;

  /** `slowMs` is what a slow statement takes at least, in milliseconds. */
  constructor(slowMs: number) {
    this.#slowMs = slowMs;
  }

  isQuick(kind: StatementKind): boolean {
    return this.#kinds.get(kind) === quick;
  }

  isKnown(kind: StatementKind): boolean {
    return this.#kinds.has(kind);
  }

  /** True if statements of this kind, or those of this client, were slow of late. */
  isSlow(kind: StatementKind, client: string): boolean {
    const now = performance.now();
    return now < (this.#kinds.get(kind) ?? 0) || now < (this.#clients.get(client)?.slowUntil ?? 0);
  }

  usedBy(client: string, now = performance.now()): number {
    const time = this.#clients.get(client);
    return time === undefined ? 0 : time.usedMs * 0.5 ** ((now - time.updatedAt) / halfLifeMs);
  }

  /** Takes the time of a statement that had its turn. */
  note(kind: StatementKind, client: string, ms: number): void {
    const now = performance.now();
    const isSlow = ms > this.#slowMs;
    const slowUntil = isSlow ? now + Math.min(ms * slowFactor, maxSlowMs) : 0;
    const usedMs = this.usedBy(client) + ms;
    remember(this.#clients, client, {
      usedMs,
      updatedAt: now,
      slowUntil: Math.max(slowUntil, this.#clients.get(client)?.slowUntil ?? 0),
    });
    if (isSlow) remember(this.#kinds, kind, now + slowKindMs);
    else if (ms < quickMs) remember(this.#kinds, kind, quick);
    else if (!this.isKnown(kind)) remember(this.#kinds, kind, neither);
  }

  /** Notes that a statement under way has been slow already. */
  suspect(kind: StatementKind, client: string): void {
    if (this.isSlow(kind, client)) return;
    const now = performance.now();
    const slowUntil = now + this.#slowMs * slowFactor;
    remember(this.#kinds, kind, now + slowKindMs);
    remember(this.#clients, client, { usedMs: this.usedBy(client), updatedAt: now, slowUntil });
  }

  /** Takes back that a kind is quick: the next of its statements has to wait for a turn. */
  doubt(kind: StatementKind): void {
    if (this.isQuick(kind)) remember(this.#kinds, kind, neither);
  }
}

function remember<Value>(remembered: Map<string, Value>, key: string, value: Value): void {
  remembered.delete(key);
  remembered.set(key, value);
  if (remembered.size <= maxRemembered) return;
  const [first] = remembered.keys();
  if (first !== undefined) remembered.delete(first);
}
