/** When a transaction that failed runs again. Source: reliability notes, R2. */
import { isConflict, isNotPrimary, isRetryable, isStalePreparation } from './errors.ts';

/** Conflicts with other transactions after which a function runs again. */
const maxConflicts = 8;
/** Connections lost under a function, or refusals of a server to write, after which it runs again: by then there may be a new primary. */
const maxLosses = 1;
/**
 * Prepared statements that the server took back: a pooler may do so on every connection once. A column whose type has
 * changed does so for each statement about it on each connection.
 */
const maxStale = 24;
/** The longest wait after the first conflict, in milliseconds; it doubles up to the most. */
const firstWaitMs = 10;
const maxWaitMs = 500;

/** The tries at one transaction. */
export class Tries {
  #conflicts = 0;
  #losses = 0;
  #stale = 0;

  /** True if a failure deserves another attempt; counts it. `prepared` tells if the statement was known by its name. */
  mayRunAgain(failure: unknown, prepared = true): boolean {
    if (isConflict(failure)) return ++this.#conflicts <= maxConflicts;
    if (prepared && isStalePreparation(failure)) return ++this.#stale <= maxStale;
    return (isRetryable(failure) || isNotPrimary(failure)) && ++this.#losses <= maxLosses;
  }

  /** Milliseconds until the next try: after conflicts anything up to the longest wait, so that those who met do not meet again. */
  wait(): number {
    if (this.#conflicts === 0) return 0;
    return Math.random() * Math.min(firstWaitMs * 2 ** (this.#conflicts - 1), maxWaitMs);
  }
}
