/**
 * Which of two ways statements are run that have two: row by row, or for a page at once (`Statement.slow`).
 *
 * The first costs less where rows have few links, the second where they have many, and neither the request nor the statistics
 * of the database tell. So the time that a statement took decides. Both answer the same, so a wrong choice costs time only.
 */

import type { Statement } from '../../../database/database.ts';

/** Row by row, as the statement's own text has it, or for the whole page, as its `slow` one has it. */
export type Way = 'rows' | 'page';

interface Times {
  /** Milliseconds of the runs so far; undefined before the first. */
  rows: number | undefined;
  page: number | undefined;
  runs: number;
}

/** Statements that take less, in milliseconds, have too few links for the other way to be worth it. */
const slowMs = 5;
/** So many runs go the better way, then one goes the other way to see what it takes by now. */
const betweenTries = 32;
/** Weight of a run that took longer than those before it. */
const weight = 0.25;
/** Statements whose times are remembered; those that came first are forgotten first. */
const mostRemembered = 1_000;

/** A statement in the way that it goes now, and what has to be told how many milliseconds it took. */
export interface Chosen {
  readonly statement: Statement;
  readonly took?: (ms: number) => void;
}

/** Remembers what statements took either way. */
export class Ways {
  readonly #times = new Map<string, Times>();

  /** Chooses for one run. */
  take(statement: Statement): Chosen {
    const { name, slow } = statement;
    if (slow === undefined) return { statement };
    const way = this.choose(name);
    const took = (ms: number): void => this.note(name, way, ms);
    return { statement: way === 'page' ? { ...statement, ...slow } : statement, took };
  }

  /** The way that a statement goes next, by its name. */
  choose(name: string): Way {
    const times = this.#times.get(name);
    if (times === undefined) return 'rows';
    const better = times.page === undefined || times.page < (times.rows ?? 0) ? 'page' : 'rows';
    times.runs++;
    if (times.runs % betweenTries > 0) return better;
    return better === 'page' ? 'rows' : 'page';
  }

  /** Takes what a run took, in milliseconds. A statement that is quick row by row is forgotten. */
  note(name: string, way: Way, ms: number): void {
    if (way === 'rows' && ms < slowMs) {
      this.#times.delete(name);
      return;
    }
    const times = this.#times.get(name) ?? { rows: undefined, page: undefined, runs: 0 };
    times[way] = averaged(times[way], ms);
    this.#times.set(name, times);
    if (this.#times.size <= mostRemembered) return;
    const [first] = this.#times.keys();
    if (first !== undefined) this.#times.delete(first);
  }
}

/** A shorter time counts at once: other work on the machine makes times longer only. */
function averaged(before: number | undefined, ms: number): number {
  return before === undefined || ms < before ? ms : before + (ms - before) * weight;
}
