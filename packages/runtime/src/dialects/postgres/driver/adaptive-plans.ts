/**
 * Chooses the plan of statements that have two: row by row, or for a whole page at once (`Statement.slow`).
 *
 * The first costs less where rows have few links, the second where they have many, and neither the request nor the statistics
 * of the database tell. So the time that a statement took decides. Both give the same answer, so a wrong choice costs time only.
 */

import type { Statement } from '../../../database/database.ts';

/** `rows` is the statement's own text, which works row by row; `page` its `slow` one, for the whole page. */
export type PlanKind = 'rows' | 'page';

interface Times {
  /** Milliseconds of the runs so far; undefined before the first. */
  rows: number | undefined;
  page: number | undefined;
  runs: number;
  /** Runs row by row that took long, since the last that did not. */
  slow: number;
  /** Runs for the whole page. */
  tried: number;
}

/** Statements that take less, in milliseconds, have too few links for the other plan to be worth it. */
const slowMs = 2;
/** Runs in a row that take as long before the other plan is tried, and runs of that: one may have waited for something else. */
const slowRuns = 3;
/** The other plan is not tried again at once where it takes so many times as long. */
const hopeless = 2;
/** Every so many runs the slower plan is tried, because data changes. */
const betweenTries = 32;
/** Weight of a run that took longer than those before it. */
const weight = 0.25;
/** Statements whose times are remembered; those that came first are forgotten first. */
const mostRemembered = 1_000;

/** A statement under its plan for this run, and the function that takes its milliseconds afterwards. */
export interface Chosen {
  readonly statement: Statement;
  readonly took?: (ms: number) => void;
}

/** Remembers the times of statements under both plans. */
export class AdaptivePlans {
  readonly #times = new Map<string, Times>();

  /** Chooses for one run. */
  take(statement: Statement): Chosen {
    const { name, slow } = statement;
    if (slow === undefined) return { statement };
    const plan = this.choose(name);
    const took = (ms: number): void => this.note(name, plan, ms);
    return { statement: plan === 'page' ? { ...statement, ...slow } : statement, took };
  }

  /** The plan of a statement's next run, by its name. */
  choose(name: string): PlanKind {
    const times = this.#times.get(name);
    if (times === undefined || (times.page === undefined && times.slow < slowRuns)) return 'rows';
    if (times.page !== undefined && times.tried < slowRuns && times.page < (times.rows ?? 0) * hopeless) return 'page';
    const better = times.page === undefined || times.page < (times.rows ?? 0) ? 'page' : 'rows';
    times.runs++;
    if (times.runs % betweenTries > 0) return better;
    return better === 'page' ? 'rows' : 'page';
  }

  /** Takes what a run took, in milliseconds. A statement that is quick row by row is forgotten. */
  note(name: string, plan: PlanKind, ms: number): void {
    if (plan === 'rows' && ms < slowMs) {
      this.#times.delete(name);
      return;
    }
    const times = this.#times.get(name) ?? { rows: undefined, page: undefined, runs: 0, slow: 0, tried: 0 };
    if (plan === 'rows') times.slow++;
    else times.tried++;
    times[plan] = averaged(times[plan], ms);
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
