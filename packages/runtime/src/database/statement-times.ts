/**
 * How long statements of callers without a token took of late: the quick ones, the slow ones, and their clients.
 * Without that the duration of a statement is unknown before it runs.
 */

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

/** Remembers times of statements. */
export class StatementTimes {
  /** Until when a kind is slow; `quick` or `neither` for the others. */
  readonly #kinds = new Map<StatementKind, number>();
  readonly #clients = new Map<string, ClientTime>();
  readonly #slowMs: number;

  /** `slowMs` is what a slow statement takes at least, in milliseconds. */
  constructor(slowMs: number) {
    this.#slowMs = slowMs;
  }

  /** True if statements of this kind were quick. */
  isQuick(kind: StatementKind): boolean {
    return this.#kinds.get(kind) === quick;
  }

  /** True if a statement of this kind has run. */
  isKnown(kind: StatementKind): boolean {
    return this.#kinds.has(kind);
  }

  /** True if statements of this kind, or those of this client, were slow of late. */
  isSlow(kind: StatementKind, client: string): boolean {
    const now = performance.now();
    return now < (this.#kinds.get(kind) ?? 0) || now < (this.#clients.get(client)?.slowUntil ?? 0);
  }

  /** Milliseconds that a client used of late. */
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
