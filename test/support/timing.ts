/** Bounds of time that hold on a busy machine, too: it is measured against itself. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/** Asks until the answer is the wanted one: for so many milliseconds, and on a machine on which an answer takes long as much longer as some of them take. */
export async function soon(ask: () => Promise<unknown>, wanted: unknown, within: number): Promise<void> {
  const start = performance.now();
  let slowest = 0;
  for (;;) {
    const asked = performance.now();
    const found = await ask();
    slowest = Math.max(slowest, performance.now() - asked);
    if (isDeepStrictEqual(found, wanted) || performance.now() - start > within + 20 * slowest) {
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

/** How much more is measured, at most, than was asked for. */
const mostRounds = 5;

/**
 * Measures what is known and what is not in turns. As long as the medians are not `alike` it measures as much once more: what a busy
 * machine does to them evens out, and what one of the two really takes longer stays.
 */
export async function mediansOf(
  samples: number,
  ask: (kind: 'known' | 'unknown', number: number) => Promise<void>,
  alike: (medians: Medians) => boolean,
): Promise<Medians> {
  const times = { known: [] as number[], unknown: [] as number[] };
  for (let number = 0; ; number++) {
    // In pairs whose order changes: the second of two requests has another time than the first.
    const kind = (number + (number >> 1)) % 2 === 0 ? 'known' : 'unknown';
    const start = performance.now();
    await ask(kind, number);
    times[kind].push(performance.now() - start);
    const rounds = (number + 1) / (2 * samples);
    if (!Number.isInteger(rounds)) continue;
    const medians = { known: median(times.known), unknown: median(times.unknown), samples: samples * rounds };
    if (alike(medians) || rounds === mostRounds) return medians;
  }
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
}
