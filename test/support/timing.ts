/** Waiting for what comes in time, and measuring how long answers take. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/** Asks until the answer is the wanted one, at most for so many milliseconds. */
export async function soon(ask: () => Promise<unknown>, wanted: unknown, within: number): Promise<void> {
  const end = performance.now() + within;
  for (;;) {
    const found = await ask();
    if (isDeepStrictEqual(found, wanted) || performance.now() > end) {
      expect(found).toEqual(wanted);
      return;
    }
    await sleep(50);
  }
}

/** Medians in milliseconds of how long answers take that must not tell by their time what they are about. */
export interface Medians {
  readonly known: number;
  readonly unknown: number;
  /** How many answers of each kind were waited for. */
  readonly samples: number;
}

/** Measures what is known and what is not in turns, so many times each. */
async function mediansOf(
  samples: number,
  ask: (kind: 'known' | 'unknown', number: number) => Promise<void>,
): Promise<Medians> {
  const times = { known: [] as number[], unknown: [] as number[] };
  for (let number = 0; number < samples * 2; number++) {
    // In pairs whose order changes: the second of two requests has another time than the first.
    const kind = (number + (number >> 1)) % 2 === 0 ? 'known' : 'unknown';
    const start = performance.now();
    await ask(kind, number);
    times[kind].push(performance.now() - start);
  }
  return { known: median(times.known), unknown: median(times.unknown), samples };
}

/**
 * Measures up to three times until the medians are alike, and gives the last ones. A machine that is busy with other tests
 * disturbs one measurement; a difference of the answers themselves shows in every one.
 */
export async function alikeMediansOf(
  samples: number,
  ask: (kind: 'known' | 'unknown', number: number) => Promise<void>,
  alike: (medians: Medians) => boolean,
): Promise<Medians> {
  for (let tries = 1; ; tries++) {
    const medians = await mediansOf(samples, ask);
    if (alike(medians) || tries === 3) return medians;
  }
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
}
