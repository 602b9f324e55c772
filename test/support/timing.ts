/** Waiting for what comes in time, and measuring how long answers take. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/**
 * Asks until the answer is the wanted one, at most for so many milliseconds. A request that is sent after them is the last, so
 * that a busy machine may answer late.
 */
export async function soon(ask: () => Promise<unknown>, wanted: unknown, within: number): Promise<void> {
  const end = performance.now() + within;
  for (;;) {
    const sent = performance.now();
    const found = await ask();
    if (isDeepStrictEqual(found, wanted) || sent > end) {
      expect(found).toEqual(wanted);
      return;
    }
    await sleep(50);
  }
}

/** Waits until a count has stayed the same for a second: what is done beside requests is over by then. */
export async function untilStill(count: () => number): Promise<void> {
  for (let before = -1; before !== count(); await sleep(1_000)) before = count();
}

/**
 * Milliseconds of the fastest of three tries, or of the first that takes less than enough. Other work on the machine makes
 * some slow, and a wrong wait all of them.
 */
export async function fastestMs(run: () => Promise<unknown>, enough = 0): Promise<number> {
  let fastest = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && fastest >= enough; tries++) {
    const start = performance.now();
    await run();
    fastest = Math.min(fastest, performance.now() - start);
  }
  return fastest;
}

/** The middle of times, which is short where most of them are. */
export function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
}

/**
 * Milliseconds that answers take which must not tell by their time what they are about: of each kind the lower eighth.
 * A busy machine only makes answers slower, so the quick ones are steady where the median is not.
 */
export interface AnswerTimes {
  readonly known: number;
  readonly unknown: number;
  /** How many answers of each kind were waited for. */
  readonly samples: number;
}

/**
 * Measures up to three times, until the times are alike: a machine that is busy beyond measure tells apart by chance what a
 * server that tells by its time tells apart each time.
 */
export async function alikeTimesOf(
  measure: () => Promise<AnswerTimes>,
  isAlike: (times: AnswerTimes) => boolean,
): Promise<AnswerTimes> {
  for (let tries = 1; ; tries++) {
    const times = await measure();
    if (tries === 3 || isAlike(times)) return times;
  }
}

/** Measures what is known and what is not in turns, so many times each. */
export async function answerTimesOf(
  samples: number,
  ask: (kind: 'known' | 'unknown', number: number) => Promise<void>,
): Promise<AnswerTimes> {
  const times = { known: [] as number[], unknown: [] as number[] };
  for (let number = 0; number < samples * 2; number++) {
    // In pairs whose order changes: the second of two requests has another time than the first.
    const kind = (number + (number >> 1)) % 2 === 0 ? 'known' : 'unknown';
    const start = performance.now();
    await ask(kind, number);
    times[kind].push(performance.now() - start);
  }
  return { known: lowerEighth(times.known), unknown: lowerEighth(times.unknown), samples };
}

function lowerEighth(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 3] ?? 0;
}
