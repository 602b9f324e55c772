/** Splits items into rounds, in their order, so that no round has two of the same key. */
export function inBatches<T>(all: readonly T[], keyOf: (element: T) => string | null): readonly (readonly T[])[] {
  const times = new Map<string | null, number>();
  const batches: T[][] = [];
  for (const element of all) {
    const key = keyOf(element);
    const round = times.get(key) ?? 0;
    times.set(key, round + 1);
    const together = batches[round] ?? [];
    batches[round] = together;
    together.push(element);
  }
  return batches;
}
