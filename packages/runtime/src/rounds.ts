/** Splits items into rounds, in their order, so that no round has two of the same key. */
export function inRounds<T>(all: readonly T[], keyOf: (element: T) => string | null): readonly (readonly T[])[] {
  const times = new Map<string | null, number>();
  const rounds: T[][] = [];
  for (const element of all) {
    const key = keyOf(element);
    const round = times.get(key) ?? 0;
    times.set(key, round + 1);
    const together = rounds[round] ?? [];
    rounds[round] = together;
    together.push(element);
  }
  return rounds;
}
